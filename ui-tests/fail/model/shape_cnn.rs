//! Scenario: a convolutional network whose affine map takes another number of elements than the pool leaves.

use cotangent::prelude::*;

#[model]
struct Cnn {
    conv1: Conv2d![1 => 32, K = 3],
    conv2: Conv2d![32 => 64, K = 3],
    pool: MaxPool2d![2],
    fc: Linear![9261 => 10],
}

#[model]
impl Cnn {
    fn forward(&self, x: Tensor![B, 1, 28, 28]) -> Tensor![B, 10] {
        let h = self.conv2.forward(self.conv1.forward(x).relu()).relu();
        self.fc.forward(self.pool.forward(h).flatten(1))
    }
}

fn main() {}
