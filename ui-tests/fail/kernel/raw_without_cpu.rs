//! A raw kernel that says nothing of the CPU.

use cotangent::prelude::*;

#[kernel(raw)]
fn k(x: Tensor![N]) -> Tensor![N] {}

fn main() {}
