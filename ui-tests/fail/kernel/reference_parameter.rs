//! A parameter of a reference type other than `&mut Tensor![..]`.

use cotangent::prelude::*;

#[kernel]
fn double(x: &Tensor![N]) -> Tensor![N] {
    |i| 2.0 * x[i]
}

fn main() {}
