//! `#[init(..)]` on a layer that its type describes.

use cotangent::prelude::*;

#[model]
struct Net {
    #[init(zeros)]
    fc: Linear![4 => 4],
    #[init(Linear![4 => 4])]
    other: Linear,
}

fn main() {}
