//! Layers of attention.

use crate::Linear;
use cotangent_macros::model;
use cotangent_runtime::Tensor;
use cotangent_runtime::ops::scaled_dot_product_attention;

/// Causal self-attention with `H` heads: each position looks at itself and those before it.
///
/// `[B, T, C] -> [B, T, C]`; `qkv: C -> 3C` holds the queries, keys and values of all heads in this order, `proj: C ->
/// C` mixes the heads. `C` is a multiple of `H`.
///
/// ```
/// use cotangent::prelude::*;
/// let config = CausalSelfAttentionConfig { C: 8, H: 2 };
/// let attention = CausalSelfAttention::init(config, &mut Rng::seed(0), &Device::cpu());
/// assert_eq!(attention.forward(Tensor::zeros([1, 5, 8], &Device::cpu())).shape(), [1, 5, 8]);
/// ```
#[model(dims(C, H), check(C % H == 0))]
pub struct CausalSelfAttention {
    /// Queries, keys and values.
    pub qkv: Linear![C => 3*C],
    /// The map after the heads.
    pub proj: Linear![C => C],
}

#[model]
impl CausalSelfAttention {
    /// The heads' weighted values, mixed.
    pub fn forward(&self, x: Tensor![B, T, C]) -> Tensor![B, T, C] {
        let (q, k, v) = self.qkv.forward(x).split(2, [C, C, C]);
        let q = q.reshape([B, T, H, C / H]).transpose(1, 2);
        let k = k.reshape([B, T, H, C / H]).transpose(1, 2);
        let v = v.reshape([B, T, H, C / H]).transpose(1, 2);
        let y: Tensor![B, H, T, C / H] = scaled_dot_product_attention(q, k, v, true);
        self.proj.forward(y.transpose(1, 2).reshape([B, T, C]))
    }
}
