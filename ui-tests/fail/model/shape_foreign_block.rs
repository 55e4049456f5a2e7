//! Scenario: a block of another crate.

use cotangent::prelude::*;
use cotangent_ui_tests::Block;

#[model(dims(C))]
struct Net {
    block: Block![2*C],
}

#[model]
impl Net {
    fn forward(&self, x: Tensor![B, C]) -> Tensor![B, C] {
        self.block.forward(x)
    }
}

fn main() {}
