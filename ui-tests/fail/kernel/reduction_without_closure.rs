//! A reduction without a closure.

use cotangent::prelude::*;

#[kernel]
fn total(x: Tensor![N]) -> Tensor![N] {
    |i| sum(x[i])
}

fn main() {}
