//! Scenario: a reshape to another number of elements.

use cotangent::prelude::*;

#[model]
struct Net {
    fc: Linear![784 => 10],
}

#[model]
impl Net {
    fn forward(&self, x: Tensor![B, 28, 28]) -> Tensor![B, 10] {
        self.fc.forward(x.reshape([B, 28 * 27]))
    }
}

fn main() {}
