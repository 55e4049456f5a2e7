//! Scenario: a checkpoint keeps clones, so that what it uses must be `Clone`.

use cotangent::prelude::*;

struct Options {
    scale: f64,
}

#[model]
struct Net {
    fc: Linear![4 => 4],
}

#[model]
impl Net {
    fn forward(&self, x: Tensor![B, 4], options: Options) -> Tensor![B, 4] {
        #[checkpoint]
        let h = self.fc.forward(x * options.scale);
        h.relu()
    }
}

fn main() {}
