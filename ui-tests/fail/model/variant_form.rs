//! Variants with several fields, or with names.

use cotangent::prelude::*;

#[model]
enum Stage {
    Two(Linear![4 => 4], Relu),
    Named { fc: Linear![4 => 4] },
}

fn main() {}
