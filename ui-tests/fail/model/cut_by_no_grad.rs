//! A `#[no_grad]` method on a value with a derivative.

use cotangent::prelude::*;

#[model]
struct Net {
    fc: Linear![4 => 4],
}

#[model]
impl Net {
    fn forward(&self, x: Tensor![B, 4]) -> Tensor![B, 4] {
        self.scale(self.fc.forward(x))
    }

    #[no_grad]
    fn scale(&self, h: Tensor![B, 4]) -> Tensor![B, 4] {
        h * 2.0
    }
}

fn main() {}
