use crate::View;

/// The operations that an expert library does better than a kernel. A new one must name that library.
#[derive(Clone, Copy, Debug)]
pub enum LibraryCall<'a> {
    /// `out[n] = a[n] b[n]`, batches of matrix products (on the CPU: the crate `gemm-f32`).
    ///
    /// `a: [N, M, K]`, `b: [N, K, P]`, `out: [N, M, P]`, all of one float dtype and of any strides except that `out`
    /// does not repeat elements. `K = 0` gives zeros.
    MatMul {
        /// Left factors.
        a: View<'a>,
        /// Right factors.
        b: View<'a>,
        /// Products.
        out: View<'a>,
    },
    /// The first `k` elements of each row in order, and the places where they were. Equal elements stay in the order of
    /// their places. NaN is larger than all numbers and equal to itself, and both zeros are equal. (On the CPU: radix
    /// sort, of the keys that order floats as integers; on GPUs, the vendor's.)
    ///
    /// `x: [.., n]`, `values: [.., k]` of the same dtype, `at: [.., k]` of `i64`, `k <= n`; of any dtype and strides except
    /// that results do not repeat elements.
    Sort {
        /// Rows.
        x: View<'a>,
        /// Their first elements.
        values: View<'a>,
        /// The places of these.
        at: View<'a>,
        /// Whether the largest comes first.
        descending: bool,
    },
    /// `softmax(scale * q kᵀ + mask) v` for batches of heads, without the scores in memory. (On the CPU: tiles whose
    /// softmax is corrected as the keys go by, after FlashAttention, Dao et al. 2022; on GPUs, the vendor's.)
    Attention {
        /// What is computed.
        of: Attention<'a>,
        /// Results, `[B, H, T, E]`, of the dtype of `q`.
        out: View<'a>,
        /// The logarithm of the sum of each row's exponentials, `[B, H, T]`, of the dtype that `q` is computed in;
        /// `-inf` where a row sees no key, whose result is 0.
        lse: View<'a>,
    },
    /// The gradients of [`Attention`](LibraryCall::Attention), of which the scores are computed again. Those are written
    /// that are given.
    AttentionBackward {
        /// What was computed.
        of: Attention<'a>,
        /// Its results.
        out: View<'a>,
        /// Its logarithms.
        lse: View<'a>,
        /// The gradient of the results, as `out`.
        d_out: View<'a>,
        /// That of the queries, as `q`.
        d_q: Option<View<'a>>,
        /// That of the keys, as `k`.
        d_k: Option<View<'a>>,
        /// That of the values, as `v`.
        d_v: Option<View<'a>>,
        /// That of the scores and so of a mask, `[B, H, T, S]`, of the dtype that `q` is computed in.
        d_mask: Option<View<'a>>,
    },
}

/// What attention reads: of one float dtype and any strides. The heads of the queries are a multiple of those of the keys
/// and values, `H = n G`: `n` heads one after another share one.
#[derive(Clone, Copy, Debug)]
pub struct Attention<'a> {
    /// Queries, `[B, H, T, D]`.
    pub q: View<'a>,
    /// Keys, `[B, G, S, D]`.
    pub k: View<'a>,
    /// Values, `[B, G, S, E]`.
    pub v: View<'a>,
    /// `[B, H, T, S]`: truth values say which keys a query may see, floats of the dtype of `q` are added to the scores.
    pub mask: Option<View<'a>>,
    /// Whether query `i` sees no key after key `i`.
    pub causal: bool,
    /// What the products of queries and keys are multiplied by.
    pub scale: f64,
}
