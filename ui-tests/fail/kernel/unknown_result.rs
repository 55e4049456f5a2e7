//! A result of a type that kernels do not have.

use cotangent::prelude::*;

#[kernel]
fn double(x: Tensor![N]) -> Tensor {
    |i| 2.0 * x[i]
}

fn main() {}
