//! A convolutional network of 1.2 million parameters for images of 28x28.

use super::Training;
use cotangent::prelude::*;
use std::hint::black_box;

/// Images of a batch.
const BATCH: usize = 64;

#[model]
struct Cnn {
    conv1: Conv2d![1 => 32, K = 3],
    conv2: Conv2d![32 => 64, K = 3],
    pool: MaxPool2d![2],
    drop1: Dropout![p = 0.25],
    fc1: Linear![9216 => 128],
    drop2: Dropout![p = 0.5],
    fc2: Linear![128 => 10],
}

#[model]
impl Cnn {
    fn forward(&self, x: Tensor![B, 1, 28, 28], cx: &mut Cx) -> Tensor![B, 10] {
        let x = self.conv1.forward(x).relu();
        let x = self.pool.forward(self.conv2.forward(x).relu());
        let x = self.fc1.forward(self.drop1.forward(x, cx).flatten(1)).relu();
        self.fc2.forward(self.drop2.forward(x, cx))
    }

    fn loss(&self, x: Tensor![B, 1, 28, 28], y: Tensor![Int; B], cx: &mut Cx) -> Tensor![] {
        self.forward(x, cx).cross_entropy(y)
    }
}

/// The network and a batch of images.
pub struct Digits {
    model: Cnn,
    optimiser: Adam,
    cx: Cx,
    x: Tensor,
    y: Tensor<Int>,
}

impl Digits {
    /// The network and so many images.
    pub fn of(images: usize) -> Digits {
        let (device, mut rng) = (Device::cpu(), Rng::seed(0));
        let model = Cnn::init(&mut rng, &device);
        let x = Tensor::randn([images, 1, 28, 28], &mut rng, &device);
        let y = Tensor::<Int>::randint(0, 10, [images], &mut rng, &device);
        Digits { model, optimiser: Adam::new(1e-3), cx: Cx::train(0), x, y }
    }
}

impl Training for Digits {
    fn new() -> Digits {
        Digits::of(BATCH)
    }

    fn forward(&self) {
        black_box(self.model.forward(self.x.clone(), &mut Cx::eval()));
    }

    fn step(&mut self) -> f64 {
        let (loss, grads) = self.model.loss_grad(self.x.clone(), self.y.clone(), &mut self.cx);
        self.optimiser.step(&mut self.model, grads);
        loss.item().into()
    }
}
