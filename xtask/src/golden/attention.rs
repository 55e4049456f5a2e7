//! Attention, as an operation and as a layer.

use super::inputs::{Inputs, Stop};
use super::registry::{Results, Row};
use cotangent::__private::{Pullback, Want};
use cotangent::layers::{Linear, LinearConfig, MultiheadAttention, MultiheadAttentionConfig, MultiheadAttentionGrads};
use cotangent::ops::{AttentionMask, scaled_dot_product_attention_with};
use cotangent::{Bool, Device, Param, Rng, Tensor};

pub(super) const ROWS: &[Row] = &[("scaled_dot_product_attention", attention), ("MultiheadAttention", multihead)];

fn attention(i: &Inputs<'_>) -> Result<Results, Stop> {
    let scale = i.maybe_number("scale")?;
    match i.holds_floats("in.attn_mask") {
        Some(true) => masked(i, i.float("in.attn_mask")?, scale, |ct| ct),
        Some(false) => masked(i, i.mask("in.attn_mask")?, scale, |()| None),
        None => masked(i, (), scale, |()| None),
    }
}

fn masked<M: AttentionMask + Clone>(
    i: &Inputs<'_>,
    mask: M,
    scale: Option<f64>,
    ct_mask: impl Fn(M::Ct) -> Option<Tensor>,
) -> Result<Results, Stop> {
    let (query, key, value) = (i.float("in.query")?, i.float("in.key")?, i.float("in.value")?);
    let (causal, [q, k, v]) = (i.flag("is_causal")?, [&query, &key, &value].map(Tensor::clone));
    let mut results = Results::new();
    results.out("y", scaled_dot_product_attention_with(q, k, v, mask.clone(), causal, scale));
    let (y, pullback) = scaled_dot_product_attention_with::vjp(query, key, value, mask, causal, scale, Want::ALL);
    results.out("y", y);
    let (ct_query, ct_key, ct_value, ct, (), ()) = pullback.pull(i.ct("y")?, &mut ());
    results.grad("in.query", ct_query);
    results.grad("in.key", ct_key);
    results.grad("in.value", ct_value);
    results.grad("in.attn_mask", ct_mask(ct));
    Ok(results)
}

/// A layer with the parameters of the case.
fn layer(i: &Inputs<'_>) -> Result<MultiheadAttention, Stop> {
    i.implied(&["embed_dim"])?;
    let (bias, heads) = (i.flag("bias")?, i.integer("num_heads")?);
    let weight = i.float("param.in_proj_weight")?;
    let width = weight.size(1);
    let config = MultiheadAttentionConfig { C: width, H: heads.unsigned_abs(), in_proj_bias: bias };
    let (mut rng, device) = (Rng::seed(0), Device::default());
    let mut layer: MultiheadAttention = cotangent::__private::init_model(&config, &mut rng, &device);
    layer.in_proj_weight = Param::new(weight);
    layer.in_proj_bias = i.maybe_float("param.in_proj_bias")?.map(Param::new);
    let mut out: Linear =
        cotangent::__private::init_model(&LinearConfig { I: width, O: width, bias }, &mut rng, &device);
    out.weight = Param::new(i.float("param.out_proj.weight")?);
    out.bias = i.maybe_float("param.out_proj.bias")?.map(Param::new);
    layer.out_proj = out;
    Ok(layer)
}

/// The keys that queries see: PyTorch's masks, whose axes are those of the scores, are true where one is hidden.
fn seen(i: &Inputs<'_>) -> Result<Option<Tensor<Bool>>, Stop> {
    let padding = match i.holds_floats("in.key_padding_mask") {
        Some(_) => {
            let mask = i.mask("in.key_padding_mask")?;
            let (batch, keys) = (mask.size(0), mask.size(1));
            Some(!mask.reshape([batch, 1, 1, keys]))
        }
        None => None,
    };
    let mask = match i.holds_floats("in.attn_mask") {
        Some(false) => Some(!i.mask("in.attn_mask")?),
        Some(true) | None => None,
    };
    Ok(match (padding, mask) {
        (Some(a), Some(b)) => Some(a & b),
        (a, b) => a.or(b),
    })
}

fn multihead(i: &Inputs<'_>) -> Result<Results, Stop> {
    let layer = layer(i)?;
    let (rows_first, weights) = (i.flag("batch_first")?, i.flag("need_weights")?);
    let averaged = i.flag("average_attn_weights")?;
    let added = i.holds_floats("in.attn_mask") == Some(true);
    let turned = |x: Tensor| if rows_first { x } else { x.transpose(0, 1) };
    let query = turned(i.float("in.query")?);
    let other = |name: &str| Ok::<_, Stop>(i.maybe_float(name)?.map(turned));
    let (key, value) = (other("in.key")?, other("in.value")?);
    let (k, v) = (key.clone().unwrap_or(query.clone()), value.clone().unwrap_or(query.clone()));
    let (mut results, mut grads) = (Results::new(), MultiheadAttentionGrads::default());
    let mask = seen(i)?;
    let (cts, y) = if weights {
        let shape = [query.size(1), k.size(1)];
        let mask = mask.unwrap_or_else(|| Tensor::zeros(shape, query.device()).eq(0.0));
        let ((y, w), back) = layer.attend_with_weights__vjp(query, k, v, mask, Want::ALL);
        let (w, back_mean) = match averaged {
            true => {
                let (mean, back) = w.mean__vjp(1, Want::ALL);
                (mean, Some(back))
            }
            false => (w, None),
        };
        results.out("w", w);
        let ct = i.ct("w")?;
        let ct = match back_mean {
            Some(back) => back.pull(ct, &mut ()).0,
            None => ct,
        };
        let (query, key, value, ()) = back.pull((i.ct("y")?.map(turned), ct), &mut grads);
        ([query, key, value], y)
    } else if added {
        let (y, back) = layer.attend_biased__vjp(query, k, v, i.float("in.attn_mask")?, Want::ALL);
        let (query, key, value, _) = back.pull(i.ct("y")?.map(turned), &mut grads);
        ([query, key, value], y)
    } else {
        let (y, back) = layer.attend__vjp(query, k, v, mask, false, Want::ALL);
        let (query, key, value, (), ()) = back.pull(i.ct("y")?.map(turned), &mut grads);
        ([query, key, value], y)
    };
    results.out("y", turned(y));
    let [ct_query, ct_key, ct_value] = cts.map(|ct| ct.map(turned));
    // What is not given is the query.
    let mut own = ct_query;
    for (name, given, ct) in [("in.key", key, ct_key), ("in.value", value, ct_value)] {
        match given {
            Some(_) => results.grad(name, ct),
            None => own = own.zip(ct).map(|(a, b)| a + b),
        }
    }
    results.grad("in.query", own);
    results.grad("param.in_proj_weight", grads.in_proj_weight);
    results.grad("param.in_proj_bias", grads.in_proj_bias);
    results.grad("param.out_proj.weight", grads.out_proj.weight);
    results.grad("param.out_proj.bias", grads.out_proj.bias);
    Ok(results)
}
