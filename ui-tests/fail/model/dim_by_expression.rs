//! A dim that is an expression.

use cotangent::prelude::*;

#[model]
struct Net {
    conv: Conv2d![1 => 32, K = size(3)],
}

fn main() {}
