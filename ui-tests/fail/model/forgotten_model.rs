//! Scenario: an impl without `#[model]`.

use cotangent::prelude::*;

#[model]
struct Net {
    fc: Linear![4 => 4],
}

impl Net {
    fn forward(&self, x: Tensor![B, 4]) -> Tensor![B, 4] {
        self.fc.forward(x)
    }
}

fn main() {}
