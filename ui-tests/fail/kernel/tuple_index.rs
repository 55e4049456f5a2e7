//! `x[(i, j)]`.

use cotangent::prelude::*;

#[kernel]
fn double(x: Tensor![N, M]) -> Tensor![N, M] {
    |i, j| 2.0 * x[(i, j)]
}

fn main() {}
