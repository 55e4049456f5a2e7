//! Normalisation.

use cotangent_macros::model;
use cotangent_runtime::{Param, Tensor};

/// Layer normalisation over the last axis, `y = (x - mean) / sqrt(var + eps) * weight + bias`, with the biased
/// variance.
///
/// `[.., C] -> [.., C]`; `weight: [C]` of ones, `bias: [C]` of zeros; `eps` is 1e-5. PyTorch's `nn.LayerNorm`; the
/// method is that of Ba, Kiros and Hinton (2016).
///
/// ```
/// use cotangent::prelude::*;
/// let norm = LayerNorm::init(LayerNormConfig { C: 3, eps: 1e-5 }, &mut Rng::seed(0), &Device::cpu());
/// let y = norm.forward(Tensor::from_slice(&[1.0, 2.0, 3.0], [1, 3], &Device::cpu()));
/// assert!(y.sum(..).item().abs() < 1e-6);
/// ```
#[model(dims(C))]
pub struct LayerNorm {
    /// `[C]`.
    #[init(ones)]
    pub weight: Param![C],
    /// `[C]`.
    #[init(zeros)]
    pub bias: Param![C],
    /// Added to the variance.
    #[config(1e-5)]
    pub eps: f64,
}

#[model]
impl LayerNorm {
    /// The rows of `x` with mean 0 and variance 1, scaled and shifted.
    pub fn forward(&self, x: Tensor![R.., C]) -> Tensor![R.., C] {
        x.layer_norm(self.weight, self.bias, self.eps)
    }
}
