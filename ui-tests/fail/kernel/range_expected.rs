//! Anything else where a range is needed.

use cotangent::prelude::*;

#[kernel]
fn total(x: Tensor![N]) -> Tensor![] {
    sum(N, |i| x[i])
}

fn main() {}
