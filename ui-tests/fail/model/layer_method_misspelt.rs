//! Scenario: a misspelt method of a layer; rustc speaks, at most twice.

use cotangent::prelude::*;

#[model]
struct Net {
    fc: Linear![4 => 4],
}

#[model]
impl Net {
    fn forward(&self, x: Tensor![B, 4]) -> Tensor![B, 4] {
        self.fc.forwrd(x)
    }
}

fn main() {}
