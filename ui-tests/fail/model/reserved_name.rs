//! A method named like an operation of tensors.

use cotangent::prelude::*;

#[model]
struct Net {
    fc: Linear![4 => 4],
}

#[model]
impl Net {
    fn softmax(&self, x: Tensor![B, 4]) -> Tensor![B, 4] {
        self.fc.forward(x)
    }
}

fn main() {}
