//! A tensor where one element is needed.

use cotangent::prelude::*;

#[kernel]
fn double(x: Tensor![N, M]) -> Tensor![N, M] {
    |i, j| 2.0 * x
}

fn main() {}
