//! Scenario: two layers of one model whose inner sizes differ.

use cotangent::prelude::*;

#[model]
struct Net {
    fc1: Linear![784 => 256],
    fc2: Linear![128 => 10],
}

#[model]
impl Net {
    fn forward(&self, x: Tensor![B, 784]) -> Tensor![B, 10] {
        let h = self.fc1.forward(x).relu();
        self.fc2.forward(h)
    }
}

fn main() {}
