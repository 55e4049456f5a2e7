//! A parameter without a first value.

use cotangent::prelude::*;

#[model]
struct Net {
    w: Param![4],
}

fn main() {}
