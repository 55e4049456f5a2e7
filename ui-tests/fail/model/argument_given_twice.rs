//! An argument that is given twice.

use cotangent::prelude::*;

#[model]
struct Net {
    fc: Linear![4 => 4, bias = false, bias = true],
}

fn main() {}
