//! Reference model of the budget: the perceptron of the MNIST example.

use cotangent::prelude::*;

#[model]
struct Mlp {
    fc1: Linear![784 => 256],
    drop: Dropout![p = 0.1],
    fc2: Linear![256 => 10],
}

#[model]
impl Mlp {
    fn forward(&self, x: Tensor![B, 784], cx: &mut Cx) -> Tensor![B, 10] {
        let h = self.fc1.forward(x).relu();
        self.fc2.forward(self.drop.forward(h, cx))
    }

    fn loss(&self, x: Tensor![B, 784], y: Tensor![Int; B], cx: &mut Cx) -> Tensor![] {
        self.forward(x, cx).cross_entropy(y)
    }
}

fn main() {
    let device = Device::cpu();
    let model = Mlp::init(&mut Rng::seed(0), &device);
    let (x, y) = (Tensor::zeros([2, 784], &device), Tensor::<Int>::from_slice(&[1, 2], [2], &device));
    let (loss, grads) = model.loss_grad(x.clone(), y, &mut Cx::train(0));
    assert!(loss.item() > 0.0 && grads.fc1.weight.is_some());
    assert_eq!(model.forward(x, &mut Cx::eval()).shape(), [2, 10]);
}
