//! Activations as layers.

mod support;

use cotangent::prelude::*;
use support::golden::check_golden;
use support::{check, device, layer};

/// Checks shapes, gradients and the values of a case; `at_zero` is the value at 0.
#[track_caller]
fn check_family<L: Layer + Model>(config: &L::Config, case: &str, at_zero: f32) {
    let activation: L = layer(config);
    for shape in [&[][..], &[1], &[5], &[0], &[3, 4], &[2, 1, 3], &[2, 0, 3], &[0, 4], &[33, 65]] {
        check(&activation, shape, shape);
    }
    check_golden::<L>(case, |_| config.clone(), "x", str::to_owned);
    let zero = activation.forward(Tensor::zeros([1], &device()), &mut Cx::eval());
    assert_eq!(zero.to_vec(), [at_zero]);
    let nan = activation.forward(Tensor::from_slice(&[f32::NAN], [1], &device()), &mut Cx::eval());
    assert!(nan.item().is_nan(), "a value that is no number stays one");
    assert_eq!(activation.named_tensors().len(), 0);
}

#[test]
fn relu() {
    check_family::<Relu>(&Default::default(), "relu", 0.0);
}

#[test]
fn gelu() {
    check_family::<Gelu>(&Default::default(), "gelu_exact", 0.0);
    check_family::<GeluTanh>(&Default::default(), "gelu_tanh", 0.0);
}

#[test]
fn silu() {
    check_family::<Silu>(&Default::default(), "silu", 0.0);
}

#[test]
fn tanh() {
    check_family::<Tanh>(&Default::default(), "tanh", 0.0);
}

#[test]
fn sigmoid() {
    check_family::<Sigmoid>(&Default::default(), "sigmoid", 0.5);
}

#[test]
fn large_inputs_stay_finite() {
    let x = Tensor::from_slice(&[-1e4, -100.0, 100.0, 1e4], [4], &device());
    let check = |y: Tensor, expected: [f32; 4]| {
        cotangent::testing::assert_close(&y, &Tensor::from_slice(&expected, [4], &device()), 1e-6, 1e-30)
    };
    let cx = &mut Cx::eval();
    check(Layer::forward(&layer::<Relu>(&Default::default()), x.clone(), cx), [0.0, 0.0, 100.0, 1e4]);
    check(Layer::forward(&layer::<Gelu>(&Default::default()), x.clone(), cx), [0.0, 0.0, 100.0, 1e4]);
    check(Layer::forward(&layer::<GeluTanh>(&Default::default()), x.clone(), cx), [0.0, 0.0, 100.0, 1e4]);
    check(Layer::forward(&layer::<Silu>(&Default::default()), x.clone(), cx), [0.0, 0.0, 100.0, 1e4]);
    check(Layer::forward(&layer::<Tanh>(&Default::default()), x.clone(), cx), [-1.0, -1.0, 1.0, 1.0]);
    check(Layer::forward(&layer::<Sigmoid>(&Default::default()), x, cx), [0.0, 0.0, 1.0, 1.0]);
}
