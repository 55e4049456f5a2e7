//! `#[cfg]` on a statement.

use cotangent::prelude::*;

#[model]
struct Net {
    fc: Linear![4 => 4],
}

#[model]
impl Net {
    fn forward(&self, x: Tensor![B, 4]) -> Tensor![B, 4] {
        #[cfg(debug_assertions)]
        let x = x.relu();
        self.fc.forward(x)
    }
}

fn main() {}
