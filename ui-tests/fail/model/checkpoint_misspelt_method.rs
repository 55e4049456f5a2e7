//! Scenario: a method that a layer in a checkpoint lacks is reported as often as outside of one.

use cotangent::prelude::*;

#[model]
struct Net {
    fc: Linear![4 => 4],
}

#[model]
impl Net {
    fn forward(&self, x: Tensor![B, 4]) -> Tensor![B, 4] {
        #[checkpoint]
        let h = self.fc.forwrd(x);
        h.relu()
    }
}

fn main() {}
