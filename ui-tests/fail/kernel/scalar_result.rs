//! A scalar as the result of a kernel on tensors.

use cotangent::prelude::*;

#[kernel]
fn total(x: Tensor![N]) -> f32 {
    sum(|i| x[i])
}

fn main() {}
