//! A raw kernel with code for a GPU.

use cotangent::prelude::*;

#[kernel(raw, cpu = f)]
fn k(x: Tensor![N]) -> Tensor![N] {
    |i| x[i]
}

fn main() {}
