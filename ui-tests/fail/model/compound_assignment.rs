//! A compound assignment to a tensor.

use cotangent::prelude::*;

#[model]
struct Net {
    fc: Linear![4 => 4],
}

#[model]
impl Net {
    fn forward(&self, x: Tensor![B, 4]) -> Tensor![B, 4] {
        let mut h = self.fc.forward(x);
        h += 1.0;
        h
    }
}

fn main() {}
