//! Scenario: a dim whose value nothing gives.

use cotangent::prelude::*;

#[model]
struct Net {
    fc: Linear![4 => 4],
}

#[model]
impl Net {
    fn forward(&self, x: Tensor![B, 3*C]) -> Tensor![B, 3*C] {
        x.relu()
    }
}

fn main() {}
