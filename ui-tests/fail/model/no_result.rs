//! A free function without a float result.

use cotangent::prelude::*;

#[model]
fn count(x: Tensor![B, 4]) -> usize {
    x.size(0)
}

fn main() {}
