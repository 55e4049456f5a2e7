//! A dim of the result that no parameter has.

use cotangent::prelude::*;

#[kernel]
fn double(x: Tensor![Width]) -> Tensor![Widht] {
    |i| 2.0 * x[i]
}

fn main() {}
