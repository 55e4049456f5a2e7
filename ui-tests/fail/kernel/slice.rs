//! `x[..]`.

use cotangent::prelude::*;

#[kernel]
fn head(x: Tensor![N, M]) -> Tensor![N] {
    |i| x[i][..]
}

fn main() {}
