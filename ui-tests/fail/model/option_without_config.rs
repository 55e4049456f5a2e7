//! An optional parameter that does not say whether it is there.

use cotangent::prelude::*;

#[model]
struct Net {
    #[init(zeros)]
    bias: Option<Param![4]>,
}

fn main() {}
