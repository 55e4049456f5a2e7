//! A dim that is declared twice.

use cotangent::prelude::*;

#[model(dims(C, C))]
struct Net {
    fc: Linear![C => C],
}

fn main() {}
