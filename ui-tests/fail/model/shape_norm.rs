//! Scenario: a norm over an axis that is not there.

use cotangent::prelude::*;

#[model(dims(C))]
struct Net {
    up: Linear![C => 4],
}

#[model]
impl Net {
    fn forward(&self, x: Tensor![B, C]) -> Tensor![B] {
        self.up.forward(x).norm(2.0, 2)
    }
}

fn main() {}
