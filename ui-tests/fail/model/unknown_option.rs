//! An option of `#[model]` that does not exist, and a misspelt one.

use cotangent::prelude::*;

#[model(dim(C), fast)]
struct Net {
    fc: Linear![4 => 4],
}

fn main() {}
