//! Tensors assigned in parts, and a part of a tuple that is no variable.

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

    fn both(&self, x: Tensor![B, 4]) -> Tensor![B, 4] {
        let mut h = x;
        let mut g = h;
        (h, g[0]) = (self.fc.forward(h), 1.0);
        self.fc.forward(h) + g
    }
}

fn main() {}
