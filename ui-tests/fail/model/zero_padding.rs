//! Scenario: a padding that may be zero does not make shapes differ; what is added to it does.

use cotangent::prelude::*;

#[model(dims(C, pad = 0))]
struct Net {
    conv: Conv2d![C => C, K = 1, pad = pad],
    more: Conv2d![C => C, K = 1, pad = pad + 1],
}

#[model]
impl Net {
    fn forward(&self, x: Tensor![B, C, H, W]) -> Tensor![B, C, H, W] {
        x + self.conv.forward(x)
    }

    fn wider(&self, x: Tensor![B, C, H, W]) -> Tensor![B, C, H, W] {
        x + self.more.forward(x)
    }
}

fn main() {}
