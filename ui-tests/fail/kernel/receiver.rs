//! `self` as a parameter.

use cotangent::prelude::*;

#[kernel]
fn scale(&self, x: Tensor![N]) -> Tensor![N] {
    |i| 2.0 * x[i]
}

fn main() {}
