//! Scenario: a matrix product of a result and a parameter.

use cotangent::prelude::*;

#[model]
struct Net {
    #[init(zeros)]
    w: Param![128, 10],
    fc: Linear![4 => 256],
}

#[model]
impl Net {
    fn forward(&self, x: Tensor![B, 4]) -> Tensor![B, 10] {
        self.fc.forward(x).matmul(self.w)
    }
}

fn main() {}
