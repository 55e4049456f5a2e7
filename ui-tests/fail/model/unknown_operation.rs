//! Methods that are no operations, or have other names here than in PyTorch and Burn.

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

    fn turned(&self, x: Tensor![B, 4]) -> Tensor![4, B] {
        self.fc.forward(x).swap_dims(0, 1).view([4, B])
    }
}

fn main() {}
