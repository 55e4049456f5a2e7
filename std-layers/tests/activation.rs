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
fn others_without_numbers() {
    check_family::<Selu>(&Default::default(), "selu", 0.0);
    check_family::<Mish>(&Default::default(), "mish", 0.0);
    check_family::<Softsign>(&Default::default(), "softsign", 0.0);
    check_family::<LogSigmoid>(&Default::default(), "logsigmoid", -std::f32::consts::LN_2);
    check_family::<Hardswish>(&Default::default(), "hardswish", 0.0);
    check_family::<Hardsigmoid>(&Default::default(), "hardsigmoid", 0.5);
}

#[test]
fn numbers_have_pytorch_s_defaults() {
    // Elements near the bounds, where a difference quotient says nothing, are among those of the other checks.
    check_golden::<Hardtanh>("hardtanh", |_| Default::default(), "x", str::to_owned);
    check_family::<LeakyRelu>(&Default::default(), "leakyrelu_0.01", 0.0);
    check_family::<Elu>(&Default::default(), "elu", 0.0);
    check_family::<Celu>(&Default::default(), "celu", 0.0);
    check_family::<Softplus>(&Default::default(), "softplus", std::f32::consts::LN_2);
}

#[test]
fn numbers_are_taken() {
    check_family::<Hardtanh>(&HardtanhConfig { min_val: 0.0, max_val: 6.0 }, "hardtanh_relu6", 0.0);
    check_family::<LeakyRelu>(&LeakyReluConfig { negative_slope: 0.2 }, "leakyrelu_0.2", 0.0);
    check_family::<Elu>(&EluConfig { alpha: 0.5 }, "elu_alpha0.5", 0.0);
    check_family::<Celu>(&CeluConfig { alpha: 2.0 }, "celu_alpha2", 0.0);
    check_family::<Softplus>(
        &SoftplusConfig { beta: 2.0, threshold: 20.0 },
        "softplus_beta2",
        std::f32::consts::LN_2 / 2.0,
    );
    let x = Tensor::from_slice(&[-1.0f32, 3.0, 7.0], [3], &device());
    assert_eq!(Layer::forward(&layer::<Relu6>(&Default::default()), x, &mut Cx::eval()).to_vec(), [0.0, 3.0, 6.0]);
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
