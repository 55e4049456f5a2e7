//! A flag that is no truth value.

use cotangent::prelude::*;

#[model]
struct Net {
    #[config(1)]
    #[init(zeros)]
    bias: Option<Param![4]>,
}

fn main() {}
