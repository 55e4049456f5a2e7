//! Layers of the standard library, with the parameters of the case.

use super::inputs::{Inputs, Stop};
use super::registry::{Results, Row};
use cotangent::__private::{AddVjp, Model, MulVjp, Pullback, Want};
use cotangent::layers::{Embedding, EmbeddingConfig, EmbeddingGrads, LayerNorm, LayerNormConfig, LayerNormGrads};
use cotangent::layers::{Linear, LinearConfig, LinearGrads, scaled_dot_product_attention};
use cotangent::{Device, Param, Rng, Tensor};

pub(super) const ROWS: &[Row] = &[
    ("Linear", linear),
    ("Embedding", embedding),
    ("LayerNorm", layer_norm),
    ("scaled_dot_product_attention", attention),
];

/// A layer whose parameters the case will replace.
pub(super) fn layer<M: Model>(config: &M::Config) -> M {
    cotangent::__private::init_model(config, &mut Rng::seed(0), &Device::default())
}

fn linear(i: &Inputs<'_>) -> Result<Results, Stop> {
    i.implied(&["in_features", "out_features"])?;
    let (x, weight, bias) = (i.float("in.x")?, i.float("param.weight")?, i.maybe_float("param.bias")?);
    let mut layer: Linear = layer(&LinearConfig { I: weight.size(1), O: weight.size(0), bias: i.flag("bias")? });
    layer.weight = Param::new(weight);
    layer.bias = bias.map(Param::new);
    let mut results = Results::new();
    results.out("y", layer.forward(x.clone()));
    let (y, pullback) = layer.forward__vjp(x, Want::ALL);
    results.out("y", y);
    let mut grads = LinearGrads::default();
    results.grad("in.x", pullback.pull(i.ct("y")?, &mut grads).0);
    results.grad("param.weight", grads.weight);
    results.grad("param.bias", grads.bias);
    Ok(results)
}

fn embedding(i: &Inputs<'_>) -> Result<Results, Stop> {
    i.implied(&["num_embeddings", "embedding_dim"])?;
    i.only("padding_idx", ())?;
    let (weight, ids) = (i.float("param.weight")?, i.int("in.x")?);
    let mut layer: Embedding = layer(&EmbeddingConfig { V: weight.size(0), C: weight.size(1) });
    layer.weight = Param::new(weight);
    let mut results = Results::new();
    results.out("y", layer.forward(ids.clone()));
    let (y, pullback) = layer.forward__vjp(ids, Want::ALL);
    results.out("y", y);
    let mut grads = EmbeddingGrads::default();
    pullback.pull(i.ct("y")?, &mut grads);
    results.grad("param.weight", grads.weight);
    Ok(results)
}

fn layer_norm(i: &Inputs<'_>) -> Result<Results, Stop> {
    i.implied(&["elementwise_affine", "bias"])?;
    if i.integers("normalized_shape")?.unwrap_or_default().len() != 1 {
        return Err(i.missing("several axes"));
    }
    let x = i.float("in.x")?;
    let mut layer: LayerNorm = layer(&LayerNormConfig { C: x.size(-1), eps: i.number("eps")? });
    // A fresh layer holds ones and zeros, which is what a layer without parameters computes.
    layer.weight = i.maybe_float("param.weight")?.map_or(layer.weight, Param::new);
    layer.bias = i.maybe_float("param.bias")?.map_or(layer.bias, Param::new);
    let mut results = Results::new();
    results.out("y", layer.forward(x.clone()));
    let (y, pullback) = layer.forward__vjp(x, Want::ALL);
    results.out("y", y);
    let mut grads = LayerNormGrads::default();
    results.grad("in.x", pullback.pull(i.ct("y")?, &mut grads).0);
    results.grad("param.weight", grads.weight);
    results.grad("param.bias", grads.bias);
    Ok(results)
}

fn attention(i: &Inputs<'_>) -> Result<Results, Stop> {
    let plain = i.holds_floats("in.attn_mask").is_none() && i.maybe_number("scale")?.is_none();
    if plain { plain_attention(i) } else { masked_attention(i) }
}

fn plain_attention(i: &Inputs<'_>) -> Result<Results, Stop> {
    let (query, key, value) = (i.float("in.query")?, i.float("in.key")?, i.float("in.value")?);
    let causal = i.flag("is_causal")?;
    if causal && query.size(-2) != key.size(-2) {
        return Err(i.missing("is_causal with a mask that is not square"));
    }
    let mut results = Results::new();
    results.out("y", scaled_dot_product_attention(query.clone(), key.clone(), value.clone(), causal));
    let (y, pullback) = scaled_dot_product_attention::vjp(query, key, value, causal, Want::ALL);
    results.out("y", y);
    let (ct_query, ct_key, ct_value, ()) = pullback.pull(i.ct("y")?, &mut ());
    results.grad("in.query", ct_query);
    results.grad("in.key", ct_key);
    results.grad("in.value", ct_value);
    Ok(results)
}

/// Attention with a mask or a scale of its own, put together from operations as a user would.
fn masked_attention(i: &Inputs<'_>) -> Result<Results, Stop> {
    i.only("is_causal", false)?;
    let (query, key, value) = (i.float("in.query")?, i.float("in.key")?, i.float("in.value")?);
    let scale = i.maybe_number("scale")?.unwrap_or(1.0 / (query.size(-1) as f64).sqrt());
    let (scores_shape, device) = ([query.size(-2), key.size(-2)], *query.device());
    let nothing = || Tensor::zeros(scores_shape, &device);
    // True where a source is hidden.
    let (added, hidden) = match i.holds_floats("in.attn_mask") {
        Some(true) => (i.float("in.attn_mask")?, nothing().ne(0.0)),
        Some(false) => (nothing(), i.int("in.attn_mask")?.eq(0)),
        None => (nothing(), nothing().ne(0.0)),
    };
    let (key, back_transpose) = key.transpose__vjp(-2, -1, Want::ALL);
    let (scores, back_scores) = query.matmul__vjp(key, Want::ALL);
    let (scores, back_scale) = MulVjp::mul__vjp(scores, scale, Want::ALL);
    let (scores, back_add) = AddVjp::add__vjp(scores, added, Want::ALL);
    let (scores, back_fill) = scores.masked_fill__vjp(hidden, f64::NEG_INFINITY, Want::ALL);
    let (weights, back_softmax) = scores.softmax__vjp(-1, Want::ALL);
    let (y, back_values) = weights.matmul__vjp(value, Want::ALL);
    let mut results = Results::new();
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
