//! A differentiated method that takes `&mut self`.

use cotangent::prelude::*;

#[model]
struct Net {
    fc: Linear![4 => 4],
}

#[model]
impl Net {
    fn forward(&mut self, x: Tensor![B, 4]) -> Tensor![B, 4] {
        self.fc.forward(x)
    }
}

fn main() {}
