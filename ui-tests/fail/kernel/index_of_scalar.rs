//! Indices of something that has none.

use cotangent::prelude::*;

#[kernel]
fn scale(x: Tensor![N], by: f32) -> Tensor![N] {
    |i| x[i] * by[i]
}

fn main() {}
