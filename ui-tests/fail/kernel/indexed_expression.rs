//! `f(x)[i]`.

use cotangent::prelude::*;

#[kernel]
fn double(x: Tensor![N]) -> Tensor![N] {
    |i| (x[i] + x[i])[i]
}

fn main() {}
