//! `Linear`.

mod support;

use cotangent::prelude::*;
use support::golden::check_golden;
use support::{check, check_refused, layer};

fn linear(inputs: usize, outputs: usize, bias: bool) -> Linear {
    layer(&LinearConfig { I: inputs, O: outputs, bias })
}

#[test]
fn shapes_and_gradients() {
    let table: [(&[usize], &[usize]); 8] = [
        (&[3], &[2]),
        (&[5, 3], &[5, 2]),
        (&[1, 3], &[1, 2]),
        (&[0, 3], &[0, 2]),
        (&[2, 4, 3], &[2, 4, 2]),
        (&[2, 1, 3], &[2, 1, 2]),
        (&[2, 0, 3], &[2, 0, 2]),
        (&[1, 2, 1, 2, 3], &[1, 2, 1, 2, 2]),
    ];
    for (input, output) in table {
        check(&linear(3, 2, true), input, output);
        check(&linear(3, 2, false), input, output);
    }
    check(&linear(1, 1, true), &[4, 1], &[4, 1]);
    check(&linear(1, 7, true), &[1, 1], &[1, 7]);
    check(&linear(40, 33, true), &[17, 40], &[17, 33]);
}

#[test]
fn empty_features() {
    // A sum over nothing is the bias.
    let layer = linear(0, 2, true);
    assert_eq!(layer.forward(Tensor::zeros([3, 0], &support::device())).to_vec(), [0.0; 6]);
    check(&linear(3, 0, true), &[2, 3], &[2, 0]);
}

#[test]
fn values_of_pytorch() {
    let same = str::to_owned;
    for (case, inputs, outputs, bias) in
        [("linear_2d", 4, 3, true), ("linear_3d_nobias", 4, 3, false), ("linear_vector", 3, 2, true)]
    {
        check_golden::<Linear>(case, |_| LinearConfig { I: inputs, O: outputs, bias }, "x", same);
    }
}

#[test]
fn parameters_begin_within_the_root_of_the_inputs() {
    let layer = linear(16, 200, true);
    let values = [layer.weight.to_vec(), layer.bias.as_ref().expect("a bias").to_vec()].concat();
    assert!(values.iter().all(|v| v.abs() <= 0.25), "±1/√16");
    assert!(values.iter().any(|v| *v < -0.2) && values.iter().any(|v| *v > 0.2));
    assert!(linear(2, 2, false).bias.is_none());
}

#[test]
fn an_input_of_another_width_is_refused() {
    let x = Tensor::zeros([5, 4], &support::device());
    check_refused(linear(3, 2, true).try_forward(x), &["Linear::forward", "axis 1", "`x`", "4", "3"]);
}
