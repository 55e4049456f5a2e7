//! Layers of the standard library, with the parameters of the case.

use super::inputs::{Inputs, Stop};
use super::registry::{Results, Row};
use cotangent::__private::{Model, Pullback, Want};
use cotangent::layers::{Embedding, EmbeddingConfig, EmbeddingGrads, LayerNorm, LayerNormConfig, LayerNormGrads};
use cotangent::layers::{Linear, LinearConfig, LinearGrads};
use cotangent::{Device, Param, Rng};

pub(super) const ROWS: &[Row] = &[("Linear", linear), ("Embedding", embedding), ("LayerNorm", layer_norm)];

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
