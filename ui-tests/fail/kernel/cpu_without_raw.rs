//! `cpu` on a kernel that has a body.

use cotangent::prelude::*;

#[kernel(cpu = f)]
fn k(x: Tensor![N]) -> Tensor![N] {
    |i| x[i]
}

fn main() {}
