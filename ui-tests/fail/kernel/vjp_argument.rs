//! A derivative takes what the kernel has.

use cotangent::prelude::*;

fn of(width: Tensor, ct: Tensor) -> Tensor {
    width * ct
}

#[kernel(vjp = of(widht, ct))]
fn misnamed(width: Tensor![N]) -> Tensor![N] {
    |i| width[i]
}

fn main() {}
