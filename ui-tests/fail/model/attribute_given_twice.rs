//! An attribute that is given twice.

use cotangent::prelude::*;

#[model]
struct Net {
    #[init(zeros)]
    #[init(ones)]
    w: Param![4],
}

fn main() {}
