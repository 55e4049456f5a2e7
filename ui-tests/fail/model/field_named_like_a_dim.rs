//! A field with the name of a dim.

use cotangent::prelude::*;

#[model(dims(C))]
struct Net {
    fc: Linear![C => C],
    #[config]
    C: usize,
}

fn main() {}
