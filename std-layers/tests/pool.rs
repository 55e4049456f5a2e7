//! The pools.

mod support;

use cotangent::prelude::*;
use support::golden::check_golden;
use support::{check_at, check_refused, device, layer};

/// Different numbers far enough apart for differences.
fn apart(shape: &[usize]) -> Tensor {
    let n: usize = shape.iter().product();
    let values: Vec<f64> = (0..n).map(|i| (i * 11 % n) as f64 * 0.0625).collect();
    Tensor::from_slice_of(&values, shape, &device())
}

#[test]
fn shapes_and_gradients() {
    check_at(&layer::<MaxPool2d>(&MaxPool2dConfig::new(2)), apart(&[1, 2, 5, 6]), &[1, 2, 2, 3]);
    let config = MaxPool2dConfig { stride: 1, pad: 1, dilation: 2, ..MaxPool2dConfig::new(3) };
    check_at(&layer::<MaxPool2d>(&config), apart(&[1, 5, 6]), &[1, 3, 4]);
    check_at(&layer::<MaxPool1d>(&MaxPool1dConfig { stride: 2, ..MaxPool1dConfig::new(3) }), apart(&[2, 9]), &[2, 4]);
    check_at(&layer::<AvgPool2d>(&AvgPool2dConfig::new(2)), apart(&[1, 2, 5, 6]), &[1, 2, 2, 3]);
    let config = AvgPool2dConfig { pad: 1, count_include_pad: false, ..AvgPool2dConfig::new(3) };
    check_at(&layer::<AvgPool2d>(&config), apart(&[1, 5, 7]), &[1, 2, 3]);
    check_at(&layer::<AvgPool1d>(&AvgPool1dConfig::new(2)), apart(&[2, 7]), &[2, 3]);
    check_at(&layer::<AdaptiveAvgPool2d>(&AdaptiveAvgPool2dConfig::new(2)), apart(&[1, 5, 7]), &[1, 2, 2]);
    check_at(&layer::<AdaptiveAvgPool1d>(&AdaptiveAvgPool1dConfig::new(3)), apart(&[2, 7]), &[2, 3]);
    let config = AdaptiveMaxPool2dConfig { OW: 3, ..AdaptiveMaxPool2dConfig::new(2) };
    check_at(&layer::<AdaptiveMaxPool2d>(&config), apart(&[1, 5, 7]), &[1, 2, 3]);
    check_at(&layer::<AdaptiveMaxPool1d>(&AdaptiveMaxPool1dConfig::new(3)), apart(&[2, 7]), &[2, 3]);
}

#[test]
fn values_of_pytorch() {
    let same = str::to_owned;
    check_golden::<MaxPool2d>("maxpool2d_k2", |_| MaxPool2dConfig::new(2), "x", same);
    check_golden::<AvgPool2d>("avgpool2d_k2", |_| AvgPool2dConfig::new(2), "x", same);
    let config = AdaptiveAvgPool2dConfig { OH: 2, OW: 3 };
    check_golden::<AdaptiveAvgPool2d>("adaptiveavgpool2d_5x7to2x3", |_| config.clone(), "x", same);
}

#[test]
fn a_window_that_does_not_fit_is_refused() {
    let x = Tensor::zeros([1, 2, 2], &device());
    check_refused(
        layer::<MaxPool2d>(&MaxPool2dConfig::new(3)).try_forward(x),
        &["a window of 3", "axis 1 of [1, 2, 2] is 2"],
    );
}
