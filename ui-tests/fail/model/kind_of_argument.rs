//! Scenario: a tensor of integers where a layer takes floats: the caret stands at the argument.

use cotangent::prelude::*;

#[model]
struct Net {
    fc: Linear![4 => 4],
}

#[model]
impl Net {
    fn forward(&self, x: Tensor![Int; B, 4]) -> Tensor![B, 4] {
        self.fc.forward(x)
    }
}

fn main() {}
