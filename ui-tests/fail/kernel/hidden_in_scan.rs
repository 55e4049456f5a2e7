//! A running sum of what varies with its own place.

use cotangent::prelude::*;

#[kernel]
fn k(x: Tensor![N]) -> Tensor![N] {
    |i| cumsum(|j| x[i] * x[j], i)
}

fn main() {}
