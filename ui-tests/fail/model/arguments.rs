//! Arguments of `#[model]` on an impl.

use cotangent::prelude::*;

#[model]
struct Net {
    fc: Linear![4 => 4],
}

#[model(dims(C))]
impl Net {
    fn forward(&self, x: Tensor![B, 4]) -> Tensor![B, 4] {
        self.fc.forward(x)
    }
}

fn main() {}
