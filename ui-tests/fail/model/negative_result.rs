//! Scenario: filters that are larger than the images of a layer.

use cotangent::prelude::*;

#[model]
struct Net {
    conv: Conv2d![3 => 8, K = 11],
}

#[model]
impl Net {
    fn forward(&self, x: Tensor![B, 3, 8, 8]) -> Tensor![B, 8, H, W] {
        self.conv.forward(x)
    }
}

fn main() {}
