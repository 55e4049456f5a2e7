//! A dim by place after one by name.

use cotangent::prelude::*;

#[model]
struct Net {
    conv: Conv2d![1, K = 3, 32],
}

fn main() {}
