//! A tensor as a condition.

use cotangent::prelude::*;

#[model]
struct Net {
    fc: Linear![4 => 4],
}

#[model]
impl Net {
    fn forward(&self, x: Tensor![B, 4]) -> Tensor![B, 4] {
        let h = self.fc.forward(x);
        if h.clone() * 2.0 { h } else { h.relu() }
    }
}

fn main() {}
