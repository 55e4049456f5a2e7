//! `Conv1d`, `Conv2d`, `ConvTranspose1d`, `ConvTranspose2d`.

mod support;

use cotangent::prelude::*;
use support::golden::check_golden;
use support::{check, check_refused, device, layer};

#[test]
fn shapes_and_gradients() {
    let config = Conv2dConfig { stride: 2, pad: 1, groups: 2, ..Conv2dConfig::new(2, 4, 3) };
    check(&layer::<Conv2d>(&config), &[2, 2, 5, 6], &[2, 4, 3, 3]);
    check(
        &layer::<Conv2d>(&Conv2dConfig { bias: false, dilation: 2, ..Conv2dConfig::new(1, 2, 2) }),
        &[1, 1, 4, 3],
        &[1, 2, 2, 1],
    );
    check(&layer::<Conv2d>(&Conv2dConfig::new(2, 2, 1)), &[0, 2, 3, 3], &[0, 2, 3, 3]);
    check(&layer::<Conv1d>(&Conv1dConfig { stride: 2, pad: 2, ..Conv1dConfig::new(2, 3, 3) }), &[2, 2, 6], &[2, 3, 4]);
    let config = ConvTranspose2dConfig { stride: 2, pad: 1, output_pad: 1, ..ConvTranspose2dConfig::new(3, 2, 3) };
    check(&layer::<ConvTranspose2d>(&config), &[1, 3, 3, 4], &[1, 2, 6, 8]);
    let config = ConvTranspose1dConfig { groups: 2, bias: false, ..ConvTranspose1dConfig::new(4, 2, 3) };
    check(&layer::<ConvTranspose1d>(&config), &[2, 4, 3], &[2, 2, 5]);
}

#[test]
fn values_of_pytorch() {
    let same = str::to_owned;
    check_golden::<Conv2d>(
        "conv2d_basic",
        |case| {
            let [o, i, k, _] = *case.float("param.weight").shape() else { panic!("filters") };
            Conv2dConfig::new(i, o, k)
        },
        "x",
        same,
    );
    check_golden::<Conv2d>(
        "conv2d_stride2_pad1",
        |case| {
            let [o, i, k, _] = *case.float("param.weight").shape() else { panic!("filters") };
            Conv2dConfig { stride: 2, pad: 1, ..Conv2dConfig::new(i, o, k) }
        },
        "x",
        same,
    );
    check_golden::<Conv1d>(
        "conv1d_dilation2",
        |case| {
            let [o, i, k] = *case.float("param.weight").shape() else { panic!("filters") };
            Conv1dConfig { dilation: 2, pad: 2, ..Conv1dConfig::new(i, o, k) }
        },
        "x",
        same,
    );
    check_golden::<ConvTranspose2d>(
        "convtranspose2d_stride2_pad1_outpad1",
        |case| {
            let [i, o, k, _] = *case.float("param.weight").shape() else { panic!("filters") };
            ConvTranspose2dConfig { stride: 2, pad: 1, output_pad: 1, ..ConvTranspose2dConfig::new(i, o, k) }
        },
        "x",
        same,
    );
}

#[test]
fn parameters_begin_within_the_root_of_the_inputs() {
    let conv: Conv2d = layer(&Conv2dConfig { groups: 2, ..Conv2dConfig::new(8, 64, 2) });
    let values = [conv.weight.to_vec(), conv.bias.as_ref().expect("a bias").to_vec()].concat();
    assert!(values.iter().all(|v| v.abs() <= 0.25) && values.iter().any(|v| *v > 0.2), "±1/√16");
}

#[test]
fn what_does_not_fit_is_refused() {
    let conv: Conv2d = layer(&Conv2dConfig::new(3, 2, 3));
    check_refused(
        conv.try_forward(Tensor::zeros([1, 4, 5, 5], &device())),
        &["Conv2d::forward", "axis 1", "`x`", "4", "3"],
    );
    let groups = cotangent::attempt(|| layer::<Conv2d>(&Conv2dConfig { groups: 2, ..Conv2dConfig::new(3, 2, 3) }));
    assert!(groups.is_err_and(|e| e.to_string().contains("I % groups == 0")));
}

#[model]
struct Cnn {
    conv1: Conv2d![1 => 32, K = 3, pad = 1],
    conv2: Conv2d![32 => 64, K = 3, stride = 2],
    pool: MaxPool2d![2],
    norm: BatchNorm2d![64],
    fc: Linear![2304 => 10],
}

#[model]
impl Cnn {
    /// Every extent is proved; `6` is named for the reader.
    fn forward(&self, x: Tensor![B, 1, 28, 28], cx: &mut Cx) -> Tensor![B, 10] {
        let h: Tensor![B, 64, 6, 6] = self.pool.forward(self.conv2.forward(self.conv1.forward(x)));
        self.fc.forward(self.norm.forward(h, cx).relu().flatten(1))
    }
}

#[test]
fn a_network_of_them_trains() {
    let cnn = Cnn::init(&mut Rng::seed(0), &device());
    let y = cnn.forward(Tensor::ones([2, 1, 28, 28], &device()), &mut Cx::train(0));
    assert_eq!(y.shape(), [2, 10]);
}
