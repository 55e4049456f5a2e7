//! An index that is declared twice.

use cotangent::prelude::*;

#[kernel]
fn diagonal(x: Tensor![N, N]) -> Tensor![N, N] {
    |i, i| x[i][i]
}

fn main() {}
