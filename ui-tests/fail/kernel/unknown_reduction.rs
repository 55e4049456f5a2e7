//! A call with a closure or a range that is no reduction.

use cotangent::prelude::*;

#[kernel]
fn total(x: Tensor![N]) -> Tensor![] {
    smu(|i| x[i])
}

fn main() {}
