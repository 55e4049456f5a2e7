//! `LayerNorm`.

mod support;

use cotangent::prelude::*;
use cotangent::testing::assert_close;
use support::golden::{Case, check_golden};
use support::{check, check_refused, device, layer, layouts};

/// A layer whose parameters are not those of a new one. Rows of equal elements are among the inputs: with the usual
/// `eps` their gradient would be too steep for differences.
fn norm(width: usize) -> LayerNorm {
    let mut norm: LayerNorm = layer(&LayerNormConfig { C: width, eps: 0.5 });
    norm.weight.set(Tensor::uniform([width], 0.5, 1.5, &mut Rng::seed(1), &device()));
    norm.bias.set(Tensor::randn([width], &mut Rng::seed(2), &device()));
    norm
}

#[test]
fn shapes_and_gradients() {
    for shape in [&[6][..], &[4, 6], &[1, 6], &[0, 6], &[2, 3, 6], &[2, 1, 6], &[2, 0, 6]] {
        check(&norm(6), shape, shape);
    }
    check(&norm(33), &[3, 33], &[3, 33]);
    check(&norm(0), &[3, 0], &[3, 0]);
}

#[test]
fn rows_have_mean_0_and_variance_1() {
    for x in layouts(&[5, 64]) {
        let y = layer::<LayerNorm>(&LayerNormConfig { C: 64, eps: 0.0 }).forward(x);
        assert_close(&y.clone().mean(-1), &Tensor::zeros([5], &device()), 0.0, 1e-6);
        assert_close(&y.square().mean(-1), &Tensor::ones([5], &device()), 1e-5, 0.0);
    }
    // One element is its own mean.
    assert_eq!(norm(1).forward(Tensor::ones([2, 1], &device())).to_vec(), [norm(1).bias.item(); 2]);
}

#[test]
fn values_of_pytorch() {
    for (case, width) in [("layernorm_last", 4), ("layernorm_nobias", 6), ("layernorm_noaffine", 5)] {
        let config = |case: &Case| LayerNormConfig { C: width, eps: case.number("eps") };
        check_golden::<LayerNorm>(case, config, "x", str::to_owned);
    }
}

#[test]
fn an_input_of_another_width_is_refused() {
    let x = Tensor::zeros([5, 4], &device());
    check_refused(norm(6).try_forward(x), &["LayerNorm::forward", "axis 1", "`x`", "4", "6"]);
}
