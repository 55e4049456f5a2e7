//! A dim whose numbers or terms get too large.

use cotangent::prelude::*;

#[kernel]
fn total(x: Tensor![9000000000 * 9000000000]) -> Tensor![] {
    sum(|i| x[i])
}

fn main() {}
