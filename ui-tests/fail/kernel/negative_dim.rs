//! A dim that is a negative number.

use cotangent::prelude::*;

#[kernel]
fn total(x: Tensor![2 - 3]) -> Tensor![] {
    sum(|i| x[i])
}

fn main() {}
