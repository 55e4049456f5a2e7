//! A tensor assigned in parts.

use cotangent::prelude::*;

#[model]
struct Net {
    fc: Linear![4 => 4],
}

#[model]
impl Net {
    fn forward(&self, x: Tensor![B, 4]) -> Tensor![B, 4] {
        let mut h = x;
        h[0] = 1.0;
        self.fc.forward(h)
    }
}

fn main() {}
