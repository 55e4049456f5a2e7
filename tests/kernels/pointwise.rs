//! Kernels of scalars.

use cotangent::diff::{Pullback, Want};
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

/// Functions of the table, with their numbers and without.
#[kernel]
fn activations(x: f32, y: f32) -> f32 {
    gelu(x) * mish(y)
        + silu(x).softplus(2.0)
        + x.elu(0.5) * hardswish(y)
        + celu(x, 2.0) * selu(y)
        + logsigmoid(x) * y.softsign()
        + lerp(x, y, 0.25) * x.leaky_relu()
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

#[test]
fn functions_of_the_table() {
    let (x, y) = (input(&[4, 5]), input(&[4, 5]) - 0.3);
    let product = |a: Tensor, b: Tensor| a * b;
    let same = product(x.clone().gelu(), y.clone().mish())
        + x.clone().silu().softplus_with(2.0, 20.0)
        + product(x.clone().elu(0.5), y.clone().hardswish())
        + product(x.clone().celu(2.0), y.clone().selu())
        + product(x.clone().logsigmoid(), y.clone().softsign())
        + product(0.75 * x.clone() + 0.25 * y.clone(), x.clone().leaky_relu(0.01));
    for (found, expected) in x.clone().zip_map(y.clone(), activations).to_vec().iter().zip(same.to_vec()) {
        assert!((found - expected).abs() < 1e-5 * (1.0 + expected.abs()), "{found} is not {expected}");
    }
    check_loss_grad(
        |x| {
            let (y, pull) = x[0].clone().zip_map__vjp(x[1].clone(), activations, Want::ALL);
            let (cx, cy, ()) = pull.pull(Some(2.0 * y.clone()), &mut ());
            (y.square().sum(..), vec![cx, cy])
        },
        &[x, y],
        GradCheck::default(),
    );
}
