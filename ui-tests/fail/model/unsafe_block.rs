//! Unsafe code in a differentiated body.

use cotangent::prelude::*;

#[model]
struct Net {
    fc: Linear![4 => 4],
}

#[model]
impl Net {
    fn forward(&self, x: Tensor![B, 4]) -> Tensor![B, 4] {
        unsafe { self.fc.forward(x) }
    }
}

fn main() {}
