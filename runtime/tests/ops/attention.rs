//! Attention against its composed form.

use crate::reference::layouts;
use cotangent_runtime::diff::{Pullback, Want};
use cotangent_runtime::ops::{AttentionMask, scaled_dot_product_attention, scaled_dot_product_attention_with};
use cotangent_runtime::testing::{GradCheck, assert_close, check_grad};
use cotangent_runtime::{Bool, DType, Device, Int, Rng, Tensor, attempt, causal_mask};

fn device() -> Device {
    Device::cpu()
}

/// `softmax(scale q kᵀ + mask) v` by the operations that it is made of, for heads that share keys too.
fn composed(q: &Tensor, k: &Tensor, v: &Tensor, added: Option<&Tensor>, causal: bool, scale: f64) -> Tensor {
    let share = |x: &Tensor| {
        let heads = |x: &Tensor| if x.rank() > 2 { x.size(-3) } else { 1 };
        let times = if heads(q) > 1 && heads(x) > 1 { heads(q) / heads(x) } else { 1 };
        if times > 1 { x.clone().repeat_interleave(-3, times) } else { x.clone() }
    };
    let scores = q.clone().matmul(share(k).transpose(-2, -1)) * scale;
    let scores = if let Some(added) = added { scores + added } else { scores };
    let (t, s) = (scores.size(-2), scores.size(-1));
    let hidden = causal_mask(t.max(s)).narrow(0, 0, t).narrow(1, 0, s);
    let scores = if causal { scores.masked_fill(hidden, f64::NEG_INFINITY) } else { scores };
    scores.softmax(-1).matmul(share(v))
}

fn random(shape: &[usize], seed: u64, dtype: DType) -> Tensor {
    Tensor::randn(shape, &mut Rng::seed(seed), &device()).to(dtype)
}

/// Checks values and gradients with a mask, of which `added` is what it adds to the scores.
#[track_caller]
fn check_masked<M: AttentionMask + Clone>(
    shapes: [&[usize]; 3],
    mask: M,
    added: Option<&Tensor>,
    causal: bool,
    scale: Option<f64>,
) {
    let number = scale.unwrap_or(1.0 / (shapes[0].last().copied().unwrap_or(1) as f64).sqrt());
    let all = [0, 1, 2].map(|i| layouts(shapes[i], -1.5, 1.5, i as u64));
    for n in 0..all[0].len() {
        let [q, k, v] = [0, 1, 2].map(|i| all[i][(n + i) % all[i].len()].clone());
        let f = |xs: &[Tensor]| composed(&xs[0], &xs[1], &xs[2], added, causal, number);
        let (a, b, c) = (q.clone(), k.clone(), v.clone());
        let y = scaled_dot_product_attention_with(a, b, c, mask.clone(), causal, scale);
        assert_close(&y, &f(&[q.clone(), k.clone(), v.clone()]), 1e-5, 1e-5);
        let vjp = |xs: &[Tensor], ct| {
            let [q, k, v] = [0, 1, 2].map(|i| xs[i].clone());
            let (_, back) = scaled_dot_product_attention_with::vjp(q, k, v, mask.clone(), causal, scale, Want::ALL);
            let (q, k, v, _, (), ()) = back.pull(Some(ct), &mut ());
            vec![q, k, v]
        };
        check_grad(f, vjp, &[q, k, v], GradCheck { most: 12, ..GradCheck::default() });
    }
}

#[test]
fn any_leading_axes_and_shared_heads() {
    for causal in [false, true] {
        for (q, k, v) in [
            (&[3, 4][..], &[5, 4][..], &[5, 2][..]),
            (&[2, 3, 4], &[2, 3, 4], &[2, 3, 4]),
            (&[2, 4, 7, 3], &[2, 2, 5, 3], &[2, 2, 5, 6]),
            (&[2, 1, 4, 9, 3], &[3, 1, 9, 3], &[2, 1, 1, 9, 2]),
            (&[2, 2, 1, 3], &[2, 2, 9, 3], &[2, 2, 9, 3]),
            (&[4, 3, 2], &[3, 2], &[1, 3, 2]),
        ] {
            check_masked([q, k, v], (), None, causal, None);
            check_masked([q, k, v], (), None, causal, Some(0.3));
        }
    }
}

#[test]
fn lengths_beyond_a_tile() {
    for (t, s) in [(70, 70), (130, 65), (65, 200), (1, 90), (5, 1)] {
        let shapes = [&[2, t, 5][..], &[1, s, 5], &[1, s, 3]];
        check_masked(shapes, (), None, true, None);
    }
}

/// Truth values for scores, of which the first key is seen by all, and what they add.
fn truths(shape: &[usize]) -> (Tensor<Bool>, Tensor) {
    let n: usize = shape.iter().product();
    let keys = shape[shape.len() - 1];
    let bits: Vec<i64> = (0..n).map(|i| i64::from(i % keys == 0 || i * 7 % 5 > 1)).collect();
    let seen = Tensor::<Int>::from_slice(&bits, shape, &device()).ne(0);
    let added = Tensor::zeros(shape, &device()).masked_fill(!seen.clone(), f64::NEG_INFINITY);
    (seen, added)
}

#[test]
fn masks_of_either_kind_broadcast() {
    let shapes = [&[2, 3, 6, 4][..], &[2, 3, 9, 4], &[2, 3, 9, 5]];
    for shape in [&[6, 9][..], &[2, 1, 1, 9], &[3, 6, 9], &[2, 3, 6, 9]] {
        let (seen, added) = truths(shape);
        check_masked(shapes, seen.clone(), Some(&added), false, None);
        check_masked(shapes, Some(&seen), Some(&added), true, None);
        let added = random(shape, 3, DType::F32);
        check_masked(shapes, &added, Some(&added), true, Some(0.7));
    }
}

#[test]
fn a_float_mask_has_a_gradient() {
    for shape in [&[70, 5][..], &[1, 1, 5], &[2, 70, 5], &[1]] {
        let inputs = [random(&[2, 70, 3], 0, DType::F64), random(shape, 1, DType::F64)];
        let (k, v) = (random(&[2, 5, 3], 2, DType::F64), random(&[2, 5, 3], 3, DType::F64));
        for causal in [false, true] {
            let f = |xs: &[Tensor]| composed(&xs[0], &k, &v, Some(&xs[1]), causal, 0.5);
            let vjp = |xs: &[Tensor], ct| {
                let (q, mask) = (xs[0].clone(), xs[1].clone());
                let (k, v, want) = (k.clone(), v.clone(), Want::of(&[false, true, false, false, true]));
                let (_, back) = scaled_dot_product_attention_with::vjp(q, k, v, mask, causal, Some(0.5), want);
                let (q, k, v, mask, (), ()) = back.pull(Some(ct), &mut ());
                assert!(k.is_none() && v.is_none());
                vec![q, mask]
            };
            check_grad(f, vjp, &inputs, GradCheck::default());
        }
    }
}

#[test]
fn a_query_without_keys_gives_zero() {
    let (q, k, v) = (random(&[3, 2], 0, DType::F32), random(&[4, 2], 1, DType::F32), random(&[4, 2], 2, DType::F32));
    let seen = Tensor::<Int>::from_slice(&[1, 1, 1, 1, 0, 0, 0, 0, 1, 0, 0, 1], [3, 4], &device()).ne(0);
    let (y, back) = scaled_dot_product_attention_with::vjp(q.clone(), k, v, &seen, false, None, Want::ALL);
    assert_eq!(y.clone().narrow(0, 1, 1).to_vec(), [0.0; 2]);
    let (dq, dk, dv, (), (), ()) = back.pull(Some(Tensor::ones([3, 2], &device())), &mut ());
    assert_eq!(dq.clone().unwrap().narrow(0, 1, 1).to_vec(), [0.0; 2]);
    assert!([dq, dk, dv].into_iter().flatten().all(|d| d.to_vec().iter().all(|x| x.is_finite())));
    // No keys at all, and no queries.
    let none = || Tensor::zeros([0, 2], &device());
    assert_eq!(scaled_dot_product_attention(q.clone(), none(), none(), false).to_vec(), [0.0; 6]);
    let (y, back) = scaled_dot_product_attention::vjp(none(), q.clone(), q, true, Want::ALL);
    assert_eq!(y.shape(), [0, 2]);
    let (_, dk, dv, ()) = back.pull(Some(y), &mut ());
    assert!([dk, dv].into_iter().flatten().all(|d| d.to_vec() == [0.0; 6]));
}

#[test]
fn sixteen_bits_are_rounded_once() {
    for (dtype, tolerance) in [(DType::BF16, 8e-3), (DType::F16, 1e-3), (DType::F64, 1e-12)] {
        let [q, k, v] = [0, 1, 2].map(|seed| random(&[2, 70, 16], seed, dtype));
        let y = scaled_dot_product_attention(q.clone(), k.clone(), v.clone(), true);
        assert_eq!(y.dtype(), dtype);
        let wide = |x: &Tensor| x.clone().to(DType::F64);
        assert_close(
            &y.to(DType::F64),
            &composed(&wide(&q), &wide(&k), &wide(&v), None, true, 0.25),
            tolerance,
            tolerance,
        );
        let (_, back) = scaled_dot_product_attention::vjp(q.clone(), k, v, true, Want::ALL);
        let (dq, ..) = back.pull(Some(q), &mut ());
        assert_eq!(dq.map(|d| d.dtype()), Some(dtype));
    }
    // A wider operand widens the result, not the gradient of the narrower one.
    let [q, k] = [DType::BF16, DType::F32].map(|dtype| random(&[3, 4], 0, dtype));
    let (y, back) = scaled_dot_product_attention::vjp(q, k.clone(), k, false, Want::ALL);
    assert_eq!(y.dtype(), DType::F32);
    assert_eq!(back.pull(Some(y), &mut ()).0.map(|d| d.dtype()), Some(DType::BF16));
}

#[test]
fn mistakes_are_named() {
    let zeros = |shape: &[usize]| Tensor::zeros(shape, &device());
    let refused = |q: &[usize], k: &[usize], v: &[usize], mask: Option<&[usize]>, message: &str| {
        let mask = mask.map(zeros);
        let error = attempt(|| scaled_dot_product_attention_with(zeros(q), zeros(k), zeros(v), mask, false, None));
        assert_eq!(error.unwrap_err().to_string(), format!("scaled_dot_product_attention: {message}"));
    };
    refused(&[3], &[4, 2], &[4, 2], None, "queries [3] have fewer than two axes, expected [.., T, D]");
    refused(&[3, 4], &[5, 2], &[5, 2], None, "queries [3, 4] and keys [5, 2]: axis -1 is 4 and 2");
    refused(&[3, 4], &[5, 4], &[6, 2], None, "keys [5, 4] and values [6, 2]: axis -2 is 5 and 6");
    refused(
        &[3, 3, 4],
        &[2, 5, 4],
        &[2, 5, 4],
        None,
        "queries [3, 3, 4] and keys [2, 5, 4]: axis -3 is 3 and 2, expected a multiple",
    );
    refused(&[3, 3, 4], &[2, 5, 4], &[3, 5, 4], None, "keys [2, 5, 4] and values [3, 5, 4]: axis -3 is 2 and 3");
    refused(
        &[3, 4],
        &[5, 4],
        &[5, 4],
        Some(&[4, 5]),
        "the mask is [4, 5], which does not broadcast to the scores [3, 5]",
    );
}
