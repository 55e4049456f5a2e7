//! Arguments for an attribute that takes none.

use cotangent::prelude::*;

#[model]
struct Net {
    #[frozen(true)]
    fc: Linear![4 => 4],
}

fn main() {}
