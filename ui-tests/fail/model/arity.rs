//! Operations with another number of arguments than they take.

use cotangent::prelude::*;

#[model]
struct Net {
    fc: Linear![4 => 4],
}

#[model]
impl Net {
    fn loss(&self, x: Tensor![B, 4]) -> Tensor![] {
        self.fc.forward(x).softmax().sum()
    }

    fn both(&self, x: Tensor![B, 4]) -> Tensor![B, 8] {
        cat([x, x], 1, 2)
    }
}

fn main() {}
