//! A kernel on tensors that does not end with a closure.

use cotangent::prelude::*;

#[kernel]
fn double(x: Tensor![N]) -> Tensor![N] {
    2.0 * x
}

fn main() {}
