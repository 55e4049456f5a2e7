//! A running sum that is read at more than an index.

use cotangent::prelude::*;

#[kernel]
fn k(x: Tensor![N]) -> Tensor![N] {
    |i| cumsum(|j| x[j], N - 1 - i)
}

fn main() {}
