//! Scenario: the weights of `prelu` are neither one nor one for each channel.

use cotangent::prelude::*;

#[model]
struct Act {
    #[init(constant(0.25))]
    weight: Param![5],
}

#[model]
impl Act {
    fn forward(&self, x: Tensor![B, 3]) -> Tensor![B, 3] {
        x.prelu(self.weight)
    }
}

fn main() {}
