//! Kernels of scalars.

use cotangent::prelude::*;
use cotangent::testing::{GradCheck, check_loss_grad};

/// `x sigmoid(x)`.
#[kernel]
fn swish(x: f32) -> f32 {
    x / (1.0 + exp(-x))
}

/// A gate.
#[kernel]
fn swiglu(a: f32, b: f32) -> f32 {
    let gate = if a > 0.0 { a } else { 0.1 * a };
    gate * b
}

fn input(shape: &[usize]) -> Tensor {
    Tensor::randn(shape, &mut Rng::seed(3), &Device::cpu())
}

#[test]
fn maps() {
    let x = input(&[3, 5]);
    let y = x.clone().map(swish);
    for (x, y) in x.to_vec().iter().zip(y.to_vec()) {
        assert!((x / (1.0 + (-x).exp()) - y).abs() < 1e-6);
    }
    let wide = x.clone().zip_map(input(&[5]), swiglu);
    assert_eq!(wide.shape(), [3, 5]);
    assert_eq!(x.zip_map(2.0, swiglu).shape(), [3, 5]);
}

#[model(dims(C))]
struct Gated {
    up: Linear![C => 2 * C],
    down: Linear![C => C],
}

#[model]
impl Gated {
    fn forward(&self, x: Tensor![B, C]) -> Tensor![B, C] {
        let (a, b) = self.up.forward(x).split(1, [C, C]);
        self.down.forward(a.map(swish).zip_map(b, swiglu))
    }
    fn loss(&self, x: Tensor![B, C]) -> Tensor![] {
        self.forward(x).square().mean(..)
    }
}

#[test]
fn in_models() {
    let model = Gated::init(GatedConfig::new(4), &mut Rng::seed(1), &Device::cpu());
    check_loss_grad(
        |x| {
            let (loss, _, ct) = model.loss_grad_inputs(x[0].clone());
            (loss, vec![ct])
        },
        &[input(&[3, 4])],
        GradCheck::default(),
    );
}
