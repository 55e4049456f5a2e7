//! A range other than `a..b`.

use cotangent::prelude::*;

#[kernel]
fn total(x: Tensor![N]) -> Tensor![] {
    sum(0..=N, |i| x[i])
}

fn main() {}
