//! More or fewer ranges than indices.

use cotangent::prelude::*;

#[kernel]
fn total(x: Tensor![N]) -> Tensor![] {
    sum(0..2, 0..3, |i| or_zero(x[i]))
}

fn main() {}
