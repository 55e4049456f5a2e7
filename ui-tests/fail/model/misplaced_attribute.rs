//! Attributes where they mean nothing.

use cotangent::prelude::*;

#[model]
struct Net {
    #[init(zeros)]
    n: usize,
    #[state(zeros)]
    fc: Linear![4 => 4],
    #[init(zeros)]
    #[state(zeros)]
    w: Param![4],
}

fn main() {}
