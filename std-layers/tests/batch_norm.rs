//! `BatchNorm1d` and `BatchNorm2d`.

mod support;

use cotangent::diff::Want;
use cotangent::prelude::*;
use cotangent::testing::assert_close;
use support::{check, check_method, check_refused, device, layer};

fn norm(channels: usize) -> BatchNorm2d {
    let norm: BatchNorm2d = layer(&BatchNorm2dConfig { eps: 0.5, ..BatchNorm2dConfig::new(channels) });
    norm.running_mean.set(Tensor::uniform([channels], -0.5, 0.5, &mut Rng::seed(1), &device()));
    norm.running_var.set(Tensor::uniform([channels], 0.5, 1.5, &mut Rng::seed(2), &device()));
    norm
}

#[test]
fn shapes_and_gradients() {
    for shape in [&[2, 3, 4, 5][..], &[1, 3, 1, 1], &[0, 3, 2, 2]] {
        check(&norm(3), shape, shape);
    }
    let flat: BatchNorm1d =
        layer(&BatchNorm1dConfig { eps: 0.5, weight: false, bias: false, ..BatchNorm1dConfig::new(4) });
    check(&flat, &[5, 4], &[5, 4]);
    check(&flat, &[2, 4, 3], &[2, 4, 3]);
}

#[test]
fn gradients_of_a_batch_by_its_own_statistics() {
    let forward = |norm: &BatchNorm2d, xs: &[Tensor]| norm.forward(xs[0].clone(), &mut Cx::train(0));
    for x in support::layouts(&[3, 2, 2, 4]) {
        check_method(&norm(2), &[x], &[3, 2, 2, 4], forward, |norm, xs, ct, grads| {
            let (_, back) = norm.forward__vjp(xs[0].clone(), &mut Cx::train(0), Want::ALL);
            vec![cotangent::diff::Pullback::pull(back, Some(ct), grads).0]
        });
    }
}

#[test]
fn training_normalises_and_moves_the_statistics() {
    let norm: BatchNorm2d = layer(&BatchNorm2dConfig { momentum: 0.25, ..BatchNorm2dConfig::new(3) });
    let x = Tensor::randn([8, 3, 4, 4], &mut Rng::seed(3), &device()) * 2.0 + 1.0;
    let y = norm.forward(x.clone(), &mut Cx::train(0));
    assert_close(&y.clone().mean([0, 2, 3]), &Tensor::zeros([3], &device()), 0.0, 1e-5);
    assert_close(&y.square().mean([0, 2, 3]), &Tensor::ones([3], &device()), 1e-3, 0.0);
    let (var, mean) = x.clone().var_mean([0, 2, 3]);
    assert_close(&norm.running_mean.get(), &(mean * 0.25), 1e-4, 1e-5);
    assert_close(&norm.running_var.get(), &(var * 0.25 + 0.75), 1e-4, 1e-5);
    assert_eq!(norm.num_batches_tracked.get().item(), 1.0);
    let before = norm.running_mean.get().to_vec();
    norm.forward(x, &mut Cx::eval());
    assert_eq!(norm.running_mean.get().to_vec(), before);
}

#[test]
fn other_channels_are_refused() {
    let x = Tensor::zeros([1, 4, 2, 2], &device());
    check_refused(norm(3).try_forward(x, &mut Cx::eval()), &["BatchNorm2d::forward", "axis 1", "4", "3"]);
}

#[test]
fn a_single_element_moves_no_statistics() {
    let norm: BatchNorm1d = layer(&BatchNorm1dConfig::new(3));
    let one = Tensor::ones([1, 3], &device());
    let refused = norm.try_forward(one.clone(), &mut Cx::train(0));
    check_refused(refused, &["batch_norm", "[1, 3] has one element in a channel"]);
    assert_eq!(norm.running_mean.get().to_vec(), [0.0; 3]);
    assert_eq!(norm.running_var.get().to_vec(), [1.0; 3]);
    norm.forward(one, &mut Cx::eval());
}
