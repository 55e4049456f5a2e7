//! Attention.

mod support;

use cotangent::diff::{Pullback, Want};
use cotangent::prelude::*;
use cotangent::testing::{GradCheck, assert_close, check_grad};
use support::golden::{Case, check_golden};
use support::{check, check_refused, device, layer, layouts};

/// Checks the shape of scaled dot-product attention and its gradients, in every layout of the queries.
#[track_caller]
fn check_attention(q: &[usize], k: &[usize], v: &[usize], causal: bool) {
    let output = [&q[..q.len() - 1], &v[v.len() - 1..]].concat();
    for (n, query) in layouts(q).into_iter().enumerate() {
        let of = |shape: &[usize]| {
            let mut all = layouts(shape);
            let at = n % all.len();
            all.swap_remove(at)
        };
        let inputs = [query, of(k), of(v)];
        let f = |xs: &[Tensor]| scaled_dot_product_attention(xs[0].clone(), xs[1].clone(), xs[2].clone(), causal);
        assert_eq!(f(&inputs).shape(), output);
        let vjp = |xs: &[Tensor], ct| {
            let [q, k, v] = [0, 1, 2].map(|i| xs[i].clone());
            let (_, back) = scaled_dot_product_attention::vjp(q, k, v, causal, Want::ALL);
            let (q, k, v, ()) = back.pull(Some(ct), &mut ());
            vec![q, k, v]
        };
        check_grad(f, vjp, &inputs, GradCheck::default());
    }
}

#[test]
fn scaled_dot_products() {
    for causal in [false, true] {
        check_attention(&[3, 4], &[3, 4], &[3, 4], causal);
        check_attention(&[3, 4], &[3, 4], &[3, 2], causal);
        check_attention(&[2, 1, 3, 4], &[2, 1, 3, 4], &[2, 1, 3, 5], causal);
        check_attention(&[1, 1], &[1, 1], &[1, 1], causal);
        check_attention(&[0, 2, 4], &[0, 2, 4], &[0, 2, 4], causal);
        check_attention(&[2, 0, 4], &[2, 0, 4], &[2, 0, 4], causal);
    }
    check_attention(&[2, 3, 4], &[2, 5, 4], &[2, 5, 1], false);
    check_attention(&[2, 0, 4], &[2, 5, 4], &[2, 5, 1], false);
}

fn attention(width: usize, heads: usize) -> CausalSelfAttention {
    layer(&CausalSelfAttentionConfig { C: width, H: heads })
}

#[test]
fn heads() {
    for shape in [[2, 3, 4], [1, 1, 4], [2, 1, 4], [0, 3, 4], [2, 0, 4], [1, 5, 4]] {
        check(&attention(4, 2), &shape, &shape);
    }
    check(&attention(4, 1), &[2, 3, 4], &[2, 3, 4]);
    check(&attention(3, 3), &[2, 3, 3], &[2, 3, 3]);
}

#[test]
fn no_position_sees_those_behind_it() {
    let layer = attention(4, 2);
    let x = Tensor::randn([1, 6, 4], &mut Rng::seed(0), &device());
    let whole = layer.forward(x.clone());
    for length in 1..6 {
        let part = layer.forward(x.clone().narrow(1, 0, length));
        assert_close(&part, &whole.clone().narrow(1, 0, length), 1e-5, 1e-6);
    }
}

#[test]
fn values_of_pytorch() {
    for (name, causal) in [("sdpa_plain", false), ("sdpa_causal", true)] {
        let case = Case::open(name);
        let [q, k, v] = ["in.query", "in.key", "in.value"].map(|name| case.float(name));
        case.compare("out.y", Some(scaled_dot_product_attention(q.clone(), k.clone(), v.clone(), causal)));
        let (y, back) = scaled_dot_product_attention::vjp(q, k, v, causal, Want::ALL);
        case.compare("out.y", Some(y));
        let (q, k, v, ()) = back.pull(case.maybe("ct.y"), &mut ());
        case.compare("grad.in.query", q);
        case.compare("grad.in.key", k);
        case.compare("grad.in.value", v);
    }
    // PyTorch's `MultiheadAttention` names its parameters otherwise.
    let renamed = |path: &str| path.replace("qkv.", "in_proj_").replace("proj.", "out_proj.");
    let config = |_: &Case| CausalSelfAttentionConfig { C: 6, H: 3 };
    check_golden::<CausalSelfAttention>("multiheadattention_causal", config, "query", renamed);
}

#[test]
fn several_heads() {
    let config = |bias| MultiheadAttentionConfig { C: 4, H: 2, in_proj_bias: bias };
    for shape in [[2, 3, 4], [1, 1, 4], [0, 3, 4], [2, 0, 4]] {
        check(&layer::<MultiheadAttention>(&config(true)), &shape, &shape);
    }
    check(&layer::<MultiheadAttention>(&config(false)), &[2, 3, 4], &[2, 3, 4]);
    assert!(layer::<MultiheadAttention>(&config(false)).out_proj.bias.is_none());
    check_golden::<MultiheadAttention>("multiheadattention_self", |_| config(true), "query", str::to_string);
}

#[test]
fn masks_hide_keys() {
    let layer: MultiheadAttention = layer(&MultiheadAttentionConfig { C: 6, H: 3, in_proj_bias: true });
    let mut rng = Rng::seed(1);
    let mut random = |length: usize| Tensor::randn([2, length, 6], &mut rng, &device());
    let (query, key, value) = (random(4), random(5), random(5));
    let attend = |mask: Option<&Tensor<Bool>>, causal| {
        layer.attend(query.clone(), key.clone(), value.clone(), mask.cloned(), causal)
    };
    // Keys that are hidden might as well not be there.
    let seen = Tensor::<Int>::from_slice(&[1, 1, 1, 0, 0], [1, 1, 1, 5], &device()).ne(0);
    let short = layer.attend(query.clone(), key.clone().narrow(1, 0, 3), value.clone().narrow(1, 0, 3), None, false);
    assert_close(&attend(Some(&seen), false), &short, 1e-5, 1e-6);
    // The same as numbers, and with the weights.
    let added = Tensor::zeros([5], &device()).masked_fill(!seen.clone().reshape([5]), f64::NEG_INFINITY);
    assert_close(&layer.attend_biased(query.clone(), key.clone(), value.clone(), added), &short, 1e-5, 1e-6);
    let (y, weights) = layer.attend_with_weights(query.clone(), key.clone(), value.clone(), seen);
    assert_close(&y, &short, 1e-5, 1e-6);
    assert_close(&weights.sum(-1), &Tensor::ones([2, 3, 4], &device()), 1e-5, 1e-6);
    let triangle = !causal_mask(5).narrow(0, 0, 4);
    assert_close(&attend(Some(&triangle), false), &attend(None, true), 1e-5, 1e-6);
}

#[test]
fn heads_that_do_not_divide_the_width_are_refused() {
    let config = CausalSelfAttentionConfig { C: 4, H: 3 };
    let built = cotangent::attempt(|| CausalSelfAttention::init(config, &mut Rng::seed(0), &device()));
    check_refused(built, &["C % H == 0", "`CausalSelfAttention`", "C = 4, H = 3"]);
    let x = Tensor::zeros([2, 3, 5], &device());
    check_refused(attention(4, 2).try_forward(x), &["CausalSelfAttention::forward", "axis 2", "`x`", "5", "4"]);
    let [q, k] = [[3, 4], [3, 5]].map(|shape| Tensor::zeros(shape, &device()));
    check_refused(
        cotangent::attempt(|| scaled_dot_product_attention(q.clone(), k, q, false)),
        &["scaled_dot_product_attention", "axis -1 is 4 and 5"],
    );
}
