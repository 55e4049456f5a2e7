//! A model that borrows.

use cotangent::prelude::*;

#[model]
struct Net<'a> {
    fc: Linear![4 => 4],
    #[config]
    name: &'a str,
}

fn main() {}
