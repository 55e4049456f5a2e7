//! Scenario: a split whose sizes do not add up.

use cotangent::prelude::*;

#[model(dims(C))]
struct Net {
    qkv: Linear![C => 3*C],
}

#[model]
impl Net {
    fn forward(&self, x: Tensor![B, T, C]) -> Tensor![B, T, C] {
        let (q, k) = self.qkv.forward(x).split(2, [C, C]);
        q + k
    }
}

fn main() {}
