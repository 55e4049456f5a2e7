//! A field whose name belongs to the macro.

use cotangent::prelude::*;

#[model]
struct Net {
    __config: Linear![4 => 4],
}

fn main() {}
