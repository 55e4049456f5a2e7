//! Operations with several operands in bodies of models: shapes that are proved, and gradients.

use crate::bodies::check;
use crate::support::device;
use cotangent::diff::Want;
use cotangent::prelude::*;

#[model(dims(C, H, D))]
struct Attend {
    #[init(normal(0.5))]
    query: Param![H, C, D],
    #[init(normal(0.5))]
    key: Param![H, C, D],
    #[init(constant(0.25))]
    slope: Param![H],
}

#[model]
impl Attend {
    /// The weights of attention with heads, by equations.
    fn weights(&self, x: Tensor![T, C]) -> Tensor![H, T, T] {
        let q = einsum("tc,hcd->htd", (&x, self.query));
        let k = einsum("tc,hcd->htd", (x, self.key));
        let scores: Tensor![H, T, T] = einsum("htd,hsd->hts", (q, k));
        // What is used twice is cloned, whatever operator made it.
        let seen = !causal_mask(T) & !causal_mask(T);
        let hidden = !(seen | seen);
        scores.masked_fill(hidden, -1e9).softmax(-1)
    }

    fn loss(&self, x: Tensor![T, C]) -> Tensor![] {
        let weights = self.weights(x.clone());
        let mixed = einsum("hts,sc->thc", [weights, x]);
        let trace = einsum("tht->h", (einsum("thc,uhc->tuh", (mixed.clone(), mixed.clone())).transpose(1, 2),));
        let gated = mixed.prelu(self.slope) % 1.5;
        gated.hypot(2.0).lerp(1.0, 0.25).sum(..)
            + trace.logaddexp(0.5).sum(..)
            + pow(2.0, self.slope.clamp(0.1, 0.9)).sum(..)
    }
}

#[test]
fn equations_and_operations_of_several_operands() {
    let model = Attend::init(AttendConfig { C: 3, H: 2, D: 2 }, &mut Rng::seed(1), &device());
    let x = Tensor::randn([4, 3], &mut Rng::seed(2), &device());
    check(&model, x, |model, x| {
        let (loss, grads, ct) = model.loss_grad_inputs(x);
        (loss, grads, ct)
    });
}

/// Attention whose mask is learned, after one whose mask is of truth values, with heads that share keys.
#[model(dims(S, C))]
struct Biased {
    #[init(normal(0.5))]
    bias: Param![S, S],
    #[init(normal(0.5))]
    key: Param![C, C],
}

#[model]
impl Biased {
    fn loss(&self, x: Tensor![2, S, C]) -> Tensor![] {
        let k = x.matmul(self.key);
        let seen = !causal_mask(S);
        let y: Tensor![2, S, C] = scaled_dot_product_attention_with(x, k, x, seen, false, None);
        let y: Tensor![2, S, C] = scaled_dot_product_attention_with(y, k, x, self.bias, true, Some(0.5));
        let one = k.narrow(0, 0, 1);
        let z: Tensor![2, S, C] = scaled_dot_product_attention(y, one, one, false);
        (y * z).sum(..)
    }
}

#[test]
fn attention_with_masks() {
    let model = Biased::init(BiasedConfig { S: 5, C: 3 }, &mut Rng::seed(1), &device());
    let x = Tensor::randn([2, 5, 3], &mut Rng::seed(2), &device());
    check(&model, x, |model, x| {
        let (loss, grads, ct) = model.loss_grad_inputs(x);
        (loss, grads, ct)
    });
}

mod full {
    use cotangent::Tensor;

    /// Operations by their full names, without the prelude.
    #[cotangent::model]
    pub(super) fn joined(x: Tensor![B, H, T, D]) -> Tensor![B, 2 * H, T, D] {
        let y = cotangent::ops::scaled_dot_product_attention(x, x, x, true);
        cotangent::ops::cat([x, y], 1)
    }
}

#[test]
fn operations_have_full_names() {
    let x = Tensor::randn([1, 2, 3, 4], &mut Rng::seed(1), &device());
    assert_eq!(full::joined(x.clone()).shape(), [1, 4, 3, 4]);
    let (y, _) = full::joined::vjp(x.clone(), Want::ALL);
    assert_eq!(y.to_vec(), full::joined(x).to_vec());
}

#[model(dims(C, pad = 0))]
struct Padded {
    conv: Conv2d![C => C, K = 1, pad = pad],
}

#[model]
impl Padded {
    fn forward(&self, x: Tensor![B, C, H, W]) -> Tensor![B, C, H, W] {
        x + self.conv.forward(x)
    }
}

#[test]
fn a_padding_may_be_zero() {
    let x = Tensor::ones([1, 2, 3, 3], &device());
    let of = |pad| Padded::init(PaddedConfig { pad, ..PaddedConfig::new(2) }, &mut Rng::seed(1), &device());
    assert_eq!(of(0).forward(x.clone()).shape(), [1, 2, 3, 3]);
    let error = of(1).try_forward(x).expect_err("5 rows and 3 do not broadcast");
    assert!(error.to_string().contains("3") && error.to_string().contains("5"), "{error}");
}
