//! A pattern without a rule.

use cotangent::prelude::*;

#[model]
struct Net {
    fc: Linear![4 => 4],
}

#[model]
impl Net {
    fn forward(&self, x: Tensor![B, 4]) -> Tensor![B, 4] {
        let [a, b] = self.fc.forward(x).split(1, [2, 2]);
        a + b
    }
}

fn main() {}
