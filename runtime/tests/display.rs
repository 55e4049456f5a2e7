//! The text of tensors against what PyTorch prints.

use cotangent_runtime::{Bool, Device, Int, Tensor};

#[track_caller]
fn check(values: &[f32], shape: &[usize], expected: &str) {
    assert_eq!(Tensor::from_slice(values, shape, &Device::cpu()).to_string(), expected);
}

#[track_caller]
fn check_ints(values: &[i64], shape: &[usize], expected: &str) {
    assert_eq!(Tensor::<Int>::from_slice(values, shape, &Device::cpu()).to_string(), expected);
}

#[test]
fn floats() {
    check(&[1.5], &[], "tensor(1.5000)");
    check(&[3.0], &[], "tensor(3.)");
    check(&[1.0, 2.0, 3.0], &[3], "tensor([1., 2., 3.])");
    check(&[0.0, 0.0], &[2], "tensor([0., 0.])");
    check(&[-1.0, 10.0, 0.0], &[3], "tensor([-1., 10.,  0.])");
    check(&[0.5, -0.25, 100.0], &[3], "tensor([  0.5000,  -0.2500, 100.0000])");
    check(&[0.1, 2.0, 0.0, 4.0], &[2, 2], "tensor([[0.1000, 2.0000],\n        [0.0000, 4.0000]])");
}

#[test]
fn wide_ranges_are_scientific() {
    check(&[1e-5, 1.0], &[2], "tensor([1.0000e-05, 1.0000e+00])");
    check(&[1.0, 1000.0], &[2], "tensor([   1., 1000.])");
    check(&[1.0, 1001.0], &[2], "tensor([1.0000e+00, 1.0010e+03])");
    check(&[0.5, 1000.0], &[2], "tensor([5.0000e-01, 1.0000e+03])");
    check(&[-2e8, 0.0], &[2], "tensor([-2.0000e+08,  0.0000e+00])");
    check(&[5e-5, 6e-5], &[2], "tensor([5.0000e-05, 6.0000e-05])");
}

#[test]
fn what_is_not_finite() {
    check(&[f32::NAN, 1.5, f32::NEG_INFINITY], &[3], "tensor([   nan, 1.5000,   -inf])");
    check(&[f32::INFINITY, 1.0], &[2], "tensor([inf, 1.])");
    check(&[f32::INFINITY, f32::NAN], &[2], "tensor([inf, nan])");
}

#[test]
fn integers_and_flags() {
    check_ints(&[1, -20, 300], &[3], "tensor([  1, -20, 300])");
    check_ints(&[7], &[], "tensor(7)");
    check_ints(&[1, 2, 3, 4], &[1, 2, 2], "tensor([[[1, 2],\n         [3, 4]]])");
    check_ints(&[1, 2, 3, 4], &[2, 1, 2], "tensor([[[1, 2]],\n\n        [[3, 4]]])");
    let flags = Tensor::<Bool>::from_slice(&[true, false], [2], &Device::cpu());
    assert_eq!(flags.to_string(), "tensor([ True, False])");
}

#[test]
fn nothing() {
    check(&[], &[0], "tensor([])");
    check(&[], &[2, 0, 3], "tensor([], size=(2, 0, 3))");
    check_ints(&[], &[0], "tensor([], dtype=torch.int64)");
    check_ints(&[], &[0, 2], "tensor([], size=(0, 2), dtype=torch.int64)");
}

#[test]
fn long_lines_break() {
    let values: Vec<f32> = (0..12).map(|i| i as f32 + 0.5).collect();
    check(
        &values,
        &[12],
        "tensor([ 0.5000,  1.5000,  2.5000,  3.5000,  4.5000,  5.5000,  6.5000,  7.5000,\n         \
         8.5000,  9.5000, 10.5000, 11.5000])",
    );
}

#[test]
fn large_tensors_show_their_edges() {
    let device = Device::cpu();
    let x = Tensor::<Int>::arange(1001, &device);
    assert_eq!(x.to_string(), "tensor([   0,    1,    2,  ...,  998,  999, 1000])");
    let text = Tensor::<Int>::arange(10_000, &device).reshape([100, 100]).to_string();
    let expected = "tensor([[   0,    1,    2,  ...,   97,   98,   99],\n        \
                    [ 100,  101,  102,  ...,  197,  198,  199],\n        \
                    [ 200,  201,  202,  ...,  297,  298,  299],\n        ...,\n        \
                    [9700, 9701, 9702,  ..., 9797, 9798, 9799],\n        \
                    [9800, 9801, 9802,  ..., 9897, 9898, 9899],\n        \
                    [9900, 9901, 9902,  ..., 9997, 9998, 9999]])";
    assert_eq!(text, expected);
    let text = Tensor::zeros([2, 600, 1], &device).to_string();
    let side = "[[0.],\n         [0.],\n         [0.],\n         ...,\n         [0.],\n         [0.],\n         [0.]]";
    assert_eq!(text, format!("tensor([{side},\n\n        {side}])"));
}

#[test]
fn debug_is_short() {
    assert_eq!(format!("{:?}", Tensor::zeros([2, 3], &Device::cpu())), "Tensor[2, 3] f32 on cpu");
    assert_eq!(format!("{:?}", Device::cpu()), "Device(cpu)");
}
