//! A running sum that is read nowhere.

use cotangent::prelude::*;

#[kernel]
fn k(x: Tensor![N]) -> Tensor![N] {
    |i| cumsum(|j| x[j])
}

fn main() {}
