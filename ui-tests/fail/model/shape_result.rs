//! Scenario: a result that is not as declared.

use cotangent::prelude::*;

#[model]
struct Net {
    fc: Linear![4 => 256],
}

#[model]
impl Net {
    fn forward(&self, x: Tensor![B, 4]) -> Tensor![B, 10] {
        self.fc.forward(x)
    }
}

fn main() {}
