//! Scenario: a typed binding that is not true.

use cotangent::prelude::*;

#[model]
struct Net {
    fc: Linear![4 => 256],
}

#[model]
impl Net {
    fn forward(&self, x: Tensor![B, 4]) -> Tensor![B, 256] {
        let h: Tensor![B, 128] = self.fc.forward(x);
        h.relu()
    }
}

fn main() {}
