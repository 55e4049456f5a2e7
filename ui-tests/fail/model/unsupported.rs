//! Syntax without a derivative rule.

use cotangent::prelude::*;

#[model]
struct Net {
    fc: Linear![4 => 4],
}

#[model]
impl Net {
    fn forward(&self, x: Tensor![B, 4]) -> Tensor![B, 4] {
        let h = self.fc.forward(x);
        (h, 3).0
    }
}

fn main() {}
