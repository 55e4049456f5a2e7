//! `or_zero` of anything but a load.

use cotangent::prelude::*;

#[kernel]
fn before(x: Tensor![N]) -> Tensor![N] {
    |i| or_zero(x[i] + 1.0)
}

fn main() {}
