//! A range that ends at more than dims and numbers.

use cotangent::prelude::*;

#[kernel]
fn before(x: Tensor![N]) -> Tensor![N] {
    |i| sum(0..i, |j| x[j])
}

fn main() {}
