//! Layers of attention.

use crate::Linear;
use cotangent_macros::model;
use cotangent_runtime::ops::{scaled_dot_product_attention, scaled_dot_product_attention_with};
use cotangent_runtime::{Bool, Param, Tensor};

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

/// Attention with `H` heads, of queries to keys and values of other sequences too.
///
/// `[B, T, C] -> [B, T, C]`; `in_proj_weight: [3C, C]` and `in_proj_bias: [3C]` hold the maps of queries, keys and values
/// in this order, `out_proj: C -> C` mixes the heads. The weight begins as by Glorot and Bengio (2010), biases as zeros
/// and as those of [`Linear`]; `in_proj_bias = false` leaves out both. `C` is a multiple of `H`. PyTorch's
/// `nn.MultiheadAttention` with `batch_first`; its masks are true where a key is hidden, these where it is seen.
///
/// ```
/// use cotangent::prelude::*;
/// let config = MultiheadAttentionConfig { C: 8, H: 2, in_proj_bias: true };
/// let attention = MultiheadAttention::init(config, &mut Rng::seed(0), &Device::cpu());
/// let [x, memory] = [5, 7].map(|length| Tensor::zeros([1, length, 8], &Device::cpu()));
/// assert_eq!(attention.attend(x, memory.clone(), memory, None, false).shape(), [1, 5, 8]);
/// ```
#[model(dims(C, H), check(C % H == 0))]
pub struct MultiheadAttention {
    /// `[3C, C]`.
    #[init(xavier_uniform(C, 3 * C))]
    pub in_proj_weight: Param![3 * C, C],
    /// `[3C]`, absent with `in_proj_bias = false`.
    #[config(true)]
    #[init(zeros)]
    pub in_proj_bias: Option<Param![3 * C]>,
    /// The map after the heads.
    pub out_proj: Linear![C => C, bias = in_proj_bias],
}

#[model]
impl MultiheadAttention {
    /// The positions of one sequence, each of which sees all.
    pub fn forward(&self, x: Tensor![B, T, C]) -> Tensor![B, T, C] {
        self.attend(x, x, x, None, false)
    }

    /// Queries that see keys where `mask`, which broadcasts to `[B, H, T, S]`, is true; `causal` hides from query `i` the
    /// keys after key `i`. Where keys are of sequences that end early, the mask is of the form `[B, 1, 1, S]`.
    pub fn attend(
        &self,
        query: Tensor![B, T, C],
        key: Tensor![B, S, C],
        value: Tensor![B, S, C],
        mask: Option<Tensor<Bool>>,
        causal: bool,
    ) -> Tensor![B, T, C] {
        let (q, k, v) = (self.heads(query, 0), self.heads(key, 1), self.heads(value, 2));
        let y: Tensor![B, H, T, C / H] = scaled_dot_product_attention_with(q, k, v, mask, causal, None);
        self.out_proj.forward(y.transpose(1, 2).reshape([B, T, C]))
    }

    /// As [`attend`](Self::attend), with numbers that are added to the scores, `[B, H, T, S]`, to which they broadcast.
    pub fn attend_biased(
        &self,
        query: Tensor![B, T, C],
        key: Tensor![B, S, C],
        value: Tensor![B, S, C],
        bias: Tensor,
    ) -> Tensor![B, T, C] {
        let (q, k, v) = (self.heads(query, 0), self.heads(key, 1), self.heads(value, 2));
        let y: Tensor![B, H, T, C / H] = scaled_dot_product_attention_with(q, k, v, bias, false, None);
        self.out_proj.forward(y.transpose(1, 2).reshape([B, T, C]))
    }

    /// As [`attend`](Self::attend), and the weights of the keys for each head. These are in memory, and a query that sees
    /// no key gets NaN.
    pub fn attend_with_weights(
        &self,
        query: Tensor![B, T, C],
        key: Tensor![B, S, C],
        value: Tensor![B, S, C],
        mask: Tensor<Bool>,
    ) -> (Tensor![B, T, C], Tensor![B, H, T, S]) {
        let (q, k, v) = (self.heads(query, 0), self.heads(key, 1), self.heads(value, 2));
        let scores: Tensor![B, H, T, S] = q.matmul(k.transpose(2, 3)) / ((C / H) as f64).sqrt();
        let weights: Tensor![B, H, T, S] = scores.masked_fill(!mask, f64::NEG_INFINITY).softmax(-1);
        let y = weights.matmul(v).transpose(1, 2).reshape([B, T, C]);
        (self.out_proj.forward(y), weights)
    }

    /// What each head makes of queries (0), keys (1) or values (2).
    fn heads(&self, x: Tensor![B, N, C], part: usize) -> Tensor![B, H, N, C / H] {
        let y = x.matmul(self.in_proj_weight.narrow(0, part * C, C).t());
        let y = if let Some(bias) = &self.in_proj_bias { y + bias.narrow(0, part * C, C) } else { y };
        y.reshape([B, N, H, C / H]).transpose(1, 2)
    }
}
