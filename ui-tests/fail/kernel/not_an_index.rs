//! An index that is no integer.

use cotangent::prelude::*;

#[kernel]
fn half(x: Tensor![N]) -> Tensor![N] {
    |i| x[i * 0.5]
}

fn main() {}
