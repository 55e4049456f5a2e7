//! An option for kernels on tensors, on a pointwise one.

use cotangent::prelude::*;

#[kernel(unrounded)]
fn k(x: f32) -> f32 {
    x
}

fn main() {}
