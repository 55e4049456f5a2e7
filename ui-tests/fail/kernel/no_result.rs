//! A kernel that computes nothing.

use cotangent::prelude::*;

#[kernel]
fn double(x: Tensor![N]) {
    |i| 2.0 * x[i]
}

fn main() {}
