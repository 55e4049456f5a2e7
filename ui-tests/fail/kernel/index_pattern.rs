//! An index that is no name.

use cotangent::prelude::*;

#[kernel]
fn double(x: Tensor![N]) -> Tensor![N] {
    |i: usize| 2.0 * x[i]
}

fn main() {}
