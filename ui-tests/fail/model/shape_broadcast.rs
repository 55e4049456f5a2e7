//! Scenario: operands that do not broadcast.

use cotangent::prelude::*;

#[model]
struct Net {
    a: Linear![4 => 256],
    b: Linear![4 => 128],
}

#[model]
impl Net {
    fn forward(&self, x: Tensor![B, 4]) -> Tensor![B, 256] {
        self.a.forward(x) + self.b.forward(x)
    }
}

fn main() {}
