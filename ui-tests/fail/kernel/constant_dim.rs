//! A dim in braces.

use cotangent::prelude::*;

#[kernel]
fn double(x: Tensor![{ SIZE }]) -> Tensor![] {
    sum(|i| x[i])
}

fn main() {}
