//! A range that starts elsewhere.

use cotangent::prelude::*;

#[kernel]
fn tail(x: Tensor![N]) -> Tensor![] {
    sum(1..N, |i| x[i])
}

fn main() {}
