//! A dim whose name starts with a lower-case letter.

use cotangent::prelude::*;

#[model(dims(c))]
struct Net {
    fc: Linear![4 => 4],
}

fn main() {}
