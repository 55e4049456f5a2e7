//! A name in a shape that is no dim: one report at each place, and `{..}` for constants.

use cotangent::prelude::*;

const WIDTH: usize = 3;

#[model(dims(C))]
struct Net {
    fc: Linear![C => X],
    wide: Linear![WIDTH => C],
    #[init(zeros)]
    w: Param![O, C],
    blocks: [Linear![C => C]; L],
}

fn main() {}
