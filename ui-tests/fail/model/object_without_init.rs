//! A box that nothing fills.

use cotangent::prelude::*;

#[model]
struct Net {
    act: Box<dyn Layer>,
}

fn main() {}
