//! A dim that no shape determines.

use cotangent::prelude::*;

#[kernel]
fn total(x: Tensor![A + B]) -> Tensor![] {
    sum(|i| x[i])
}

fn main() {}
