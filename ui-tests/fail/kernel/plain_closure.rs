//! A closure with more than indices and a body.

use cotangent::prelude::*;

#[kernel]
fn double(x: Tensor![N]) -> Tensor![N] {
    move |i| 2.0 * x[i]
}

fn main() {}
