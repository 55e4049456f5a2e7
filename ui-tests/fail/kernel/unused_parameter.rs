//! A parameter that nothing reads.

use cotangent::prelude::*;

#[kernel]
fn scale(x: Tensor![N], by: f32) -> Tensor![N] {
    |i| 2.0 * x[i]
}

fn main() {}
