//! `#[model]` on the impl of a trait.

use cotangent::prelude::*;

#[model]
struct Net {
    fc: Linear![4 => 4],
}

trait Run {
    fn run(&self, x: Tensor) -> Tensor;
}

#[model]
impl Run for Net {
    fn run(&self, x: Tensor) -> Tensor {
        self.fc.forward(x)
    }
}

fn main() {}
