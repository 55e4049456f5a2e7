//! A raw kernel that changes a tensor.

use cotangent::prelude::*;

#[kernel(raw, cpu = f)]
fn k(x: &mut Tensor![N]) {}

fn main() {}
