//! A state without a first value.

use cotangent::prelude::*;

#[model]
struct Net {
    mean: State![4],
}

fn main() {}
