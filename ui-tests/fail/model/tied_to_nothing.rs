//! A tie to a field that does not exist.

use cotangent::prelude::*;

#[model]
struct Net {
    wte: Embedding![16, 4],
    #[tied(weight = wpe.weight)]
    head: Linear![4 => 16, bias = false],
}

fn main() {}
