//! Layers: the operations that they are made of, put together as a model's expansion does.

use super::inputs::{Inputs, Stop};
use super::registry::{Results, Row};
use cotangent::__private::{AddVjp, MulVjp, Pullback, Want};
use cotangent::Tensor;

pub(super) const ROWS: &[Row] = &[
    ("Linear", linear),
    ("Embedding", embedding),
    ("LayerNorm", layer_norm),
    ("scaled_dot_product_attention", attention),
];

fn linear(i: &Inputs<'_>) -> Result<Results, Stop> {
    i.implied(&["in_features", "out_features", "bias"])?;
    let (x, weight, bias) = (i.float("in.x")?, i.float("param.weight")?, i.maybe_float("param.bias")?);
    let (transposed, back_t) = weight.t__vjp(Want::ALL);
    let (product, back_matmul) = x.matmul__vjp(transposed, Want::ALL);
    let mut results = Results::new();
    let ct = match bias {
        None => {
            results.out("y", product);
            i.ct("y")?
        }
        Some(bias) => {
            let (y, back_add) = product.add__vjp(bias, Want::ALL);
            results.out("y", y);
            let (ct, ct_bias) = back_add.pull(i.ct("y")?, &mut ());
            results.grad("param.bias", ct_bias);
            ct
        }
    };
    let (ct_x, ct_t) = back_matmul.pull(ct, &mut ());
    results.grad("in.x", ct_x);
    results.grad("param.weight", back_t.pull(ct_t, &mut ()).0);
    Ok(results)
}

fn embedding(i: &Inputs<'_>) -> Result<Results, Stop> {
    i.implied(&["num_embeddings", "embedding_dim"])?;
    i.only("padding_idx", ())?;
    let (weight, indices) = (i.float("param.weight")?, i.int("in.x")?);
    let mut results = Results::new();
    results.out("y", weight.clone().embedding(indices.clone()));
    let (y, pullback) = weight.embedding__vjp(indices, Want::ALL);
    results.out("y", y);
    results.grad("param.weight", pullback.pull(i.ct("y")?, &mut ()).0);
    Ok(results)
}

fn layer_norm(i: &Inputs<'_>) -> Result<Results, Stop> {
    i.implied(&["elementwise_affine", "bias"])?;
    let extents = i.integers("normalized_shape")?.unwrap_or_default();
    if extents.len() != 1 {
        return Err(i.missing("normalized_shape of several axes"));
    }
    let x = i.float("in.x")?;
    let shape = [x.size(-1)];
    let weight = i.maybe_float("param.weight")?.unwrap_or_else(|| Tensor::ones(shape, x.device()));
    let bias = i.maybe_float("param.bias")?.unwrap_or_else(|| Tensor::zeros(shape, x.device()));
    let eps = i.number("eps")?;
    let mut results = Results::new();
    results.out("y", x.clone().layer_norm(weight.clone(), bias.clone(), eps));
    let (y, pullback) = x.layer_norm__vjp(weight, bias, eps, Want::ALL);
    results.out("y", y);
    let (ct_x, ct_weight, ct_bias, ()) = pullback.pull(i.ct("y")?, &mut ());
    results.grad("in.x", ct_x);
    results.grad("param.weight", ct_weight);
    results.grad("param.bias", ct_bias);
    Ok(results)
}

fn attention(i: &Inputs<'_>) -> Result<Results, Stop> {
    let (query, key, value) = (i.float("in.query")?, i.float("in.key")?, i.float("in.value")?);
    let scale = i.maybe_number("scale")?.unwrap_or(1.0 / (query.size(-1) as f64).sqrt());
    let causal = i.flag("is_causal")?;
    let (targets, sources) = (query.size(-2), key.size(-2));
    if causal && targets != sources {
        return Err(i.missing("is_causal with a mask that is not square"));
    }
    let (key, back_transpose) = key.transpose__vjp(-2, -1, Want::ALL);
    let (scores, back_scores) = query.matmul__vjp(key, Want::ALL);
    let (scores, back_scale) = scores.mul__vjp(scale, Want::ALL);
    let additive = match i.holds_floats("in.attn_mask") {
        Some(true) => i.float("in.attn_mask")?,
        Some(false) | None => Tensor::zeros([1], scores.device()),
    };
    let (scores, back_add) = scores.add__vjp(additive, Want::ALL);
    // True where a source is hidden.
    let hidden = match (causal, i.holds_floats("in.attn_mask")) {
        (true, _) => Some(cotangent::causal_mask(targets)),
        (false, Some(false)) => Some(i.int("in.attn_mask")?.eq(0)),
        (false, Some(true) | None) => None,
    };
    let mut results = Results::new();
    // A mask of falsehoods hides nothing, so that one path serves all.
    let hidden = hidden.unwrap_or_else(|| Tensor::zeros([targets, sources], scores.device()).ne(0.0));
    let (scores, back_fill) = scores.masked_fill__vjp(hidden, f64::NEG_INFINITY, Want::ALL);
    let (weights, back_softmax) = scores.softmax__vjp(-1, Want::ALL);
    let (y, back_values) = weights.matmul__vjp(value, Want::ALL);
    results.out("y", y);
    let (ct, ct_value) = back_values.pull(i.ct("y")?, &mut ());
    let ct = back_softmax.pull(ct, &mut ()).0;
    let ct = back_fill.pull(ct, &mut ()).0;
    let ct = back_add.pull(ct, &mut ()).0;
    let ct = back_scale.pull(ct, &mut ()).0;
    let (ct_query, ct_key) = back_scores.pull(ct, &mut ());
    results.grad("in.query", ct_query);
    results.grad("in.key", back_transpose.pull(ct_key, &mut ()).0);
    results.grad("in.value", ct_value);
    Ok(results)
}
