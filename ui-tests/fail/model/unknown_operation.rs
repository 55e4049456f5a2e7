//! Methods that are no operations.

use cotangent::prelude::*;

#[model]
struct Net {
    fc: Linear![4 => 4],
}

#[model]
impl Net {
    fn forward(&self, x: Tensor![B, 4]) -> Tensor![B, 4] {
        self.fc.forward(x).sofmax(-1).frobnicate()
    }
}

fn main() {}
