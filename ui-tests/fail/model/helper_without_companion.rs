//! Scenario: a plain function on a value with a derivative.

use cotangent::prelude::*;

fn helper(x: Tensor) -> Tensor {
    x
}

#[model]
struct Net {
    fc: Linear![4 => 4],
}

#[model]
impl Net {
    fn forward(&self, x: Tensor![B, 4]) -> Tensor![B, 4] {
        helper(self.fc.forward(x))
    }
}

fn main() {}
