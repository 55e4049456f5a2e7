//! Ties that do not say to what.

use cotangent::prelude::*;

#[model]
struct Net {
    wte: Embedding![16, 4],
    #[tied]
    head: Linear![4 => 16, bias = false],
    #[tied(weight = wte.weight)]
    #[init(zeros)]
    w: Param![16, 4],
}

fn main() {}
