//! A derivative of integers.

use cotangent::prelude::*;

#[kernel(vjp = f)]
fn k(x: Tensor![Int; N]) -> Tensor![Int; N] {
    |i| x[i]
}

fn main() {}
