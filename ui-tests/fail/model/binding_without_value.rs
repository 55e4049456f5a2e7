//! A variable without a value.

use cotangent::prelude::*;

#[model]
struct Net {
    fc: Linear![4 => 4],
}

#[model]
impl Net {
    fn forward(&self, x: Tensor![B, 4]) -> Tensor![B, 4] {
        let h;
        h = self.fc.forward(x);
        h
    }
}

fn main() {}
