//! Scenario: more elements asked for than an axis has.

use cotangent::prelude::*;

#[model(dims(C))]
struct Net {
    up: Linear![C => 4],
}

#[model]
impl Net {
    fn forward(&self, x: Tensor![B, C]) -> Tensor![B, 5] {
        let (values, _) = self.up.forward(x).topk(5, -1, true, true);
        values
    }
}

fn main() {}
