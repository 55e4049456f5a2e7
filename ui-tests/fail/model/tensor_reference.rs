//! A tensor behind a reference as a parameter.

use cotangent::prelude::*;

#[model]
struct Net {
    fc: Linear![4 => 4],
}

#[model]
impl Net {
    fn forward(&self, x: &Tensor![B, 4]) -> Tensor![B, 4] {
        self.fc.forward(x.clone())
    }
}

fn main() {}
