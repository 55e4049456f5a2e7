use crate::View;

/// The operations that an expert library does better than a kernel. A new one must name that library.
#[derive(Clone, Copy, Debug)]
pub enum LibraryCall<'a> {
    /// `out[n] = a[n] b[n]`, batches of matrix products, with an [`Epilogue`] applied to them. (On GPUs: cuBLASLt.)
    ///
    /// `a: [N, M, K]`, `b: [N, K, P]`, `out: [N, M, P]`, all of one float dtype and of any strides except that `out`
    /// does not repeat elements. Sums are of `DType::compute`, rounded once, after the epilogue; an empty sum is zero.
    MatMul {
        /// Left factors.
        a: View<'a>,
        /// Right factors.
        b: View<'a>,
        /// Products.
        out: View<'a>,
        /// What becomes of each element before it is stored.
        epilogue: Epilogue<'a>,
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
    /// The two-dimensional convolution of images, or one of its derivatives: with zeros outside of the images,
    /// `y[n, o, i, j] = sum_{c, k, l} w[o, c, k, l] x[n, c', i * stride + k * dilation - padding, ..]`,
    /// where the channels `c'` of a filter are those of its group. (On GPUs: cuDNN.)
    ///
    /// `x: [N, C, H, W]`, `w: [O, C / groups, KH, KW]`, `y: [N, O, OH, OW]`, all of one float dtype and of any strides
    /// except that the part that is written does not repeat elements. Sums are of `DType::compute`, rounded once, after
    /// the [`Epilogue`], which filters have none of; an empty sum is zero. The extents of `y` are free: what lies behind
    /// the last row and column of an image is zero as what lies before the first.
    Convolution {
        /// Which of the three is computed from the other two.
        part: ConvolutionPart,
        /// Images.
        x: View<'a>,
        /// Filters.
        w: View<'a>,
        /// What the filters make of the images.
        y: View<'a>,
        /// What becomes of each element of images or outputs before it is stored.
        epilogue: Epilogue<'a>,
        /// How the filters move over the images.
        window: &'a Window,
    },
    /// `softmax(scale * q kᵀ + mask) v` for batches of heads, without the scores in memory. (On the CPU: tiles whose
    /// softmax is corrected as the keys go by, after FlashAttention, Dao et al. 2022; on GPUs, the vendor's.)
    Attention {
        /// What is computed.
        of: &'a Attention<'a>,
        /// Results, `[B, H, T, E]`, of the dtype of `q`.
        out: View<'a>,
        /// The logarithm of the sum of each row's exponentials, `[B, H, T]`, of the dtype that `q` is computed in;
        /// `-inf` where a row sees no key, whose result is 0.
        lse: View<'a>,
    },
    /// The gradients of [`Attention`](LibraryCall::Attention), of which the scores are computed again.
    AttentionBackward {
        /// What was computed.
        of: &'a Attention<'a>,
        /// Its results.
        out: View<'a>,
        /// Its logarithms.
        lse: View<'a>,
        /// The gradient of the results, as `out`.
        d_out: View<'a>,
        /// Where the others go.
        wanted: &'a AttentionGradients<'a>,
    },
}

/// The gradients of an attention that are wanted.
#[derive(Clone, Copy, Debug, Default)]
pub struct AttentionGradients<'a> {
    /// That of the queries, as `q`.
    pub d_q: Option<View<'a>>,
    /// That of the keys, as `k`.
    pub d_k: Option<View<'a>>,
    /// That of the values, as `v`.
    pub d_v: Option<View<'a>>,
    /// That of the scores and so of a mask, `[B, H, T, S]`, of the dtype that `q` is computed in.
    pub d_mask: Option<View<'a>>,
}

/// What is applied to the elements of a result while they are at hand: first the bias is added, then the function is
/// applied. The default leaves them as they are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Epilogue<'a> {
    /// What is added, of the result's dtype: a number for each column of a product, `[P]`, or for each channel of a
    /// convolution, `[O]` or `[C]`.
    pub bias: Option<View<'a>>,
    /// The function.
    pub activation: Activation,
}

/// A function of one element that ends a product, by the formula that the operation of this name has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Activation {
    /// The element itself.
    #[default]
    Identity,
    /// `max(x, 0)`.
    Relu,
    /// `x / 2 * (1 + erf(x / sqrt 2))`.
    Gelu,
    /// `x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))`.
    GeluTanh,
    /// `x / (1 + e^-x)`.
    Silu,
}

/// Which of its operands a convolution computes. The convolution is linear in images and filters; from `y` as a
/// cotangent, the two other parts are the cotangents of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConvolutionPart {
    /// `y` from `x` and `w`.
    Output,
    /// `x` from `w` and `y`: what the transposed convolution computes.
    Input,
    /// `w` from `x` and `y`.
    Weight,
}

/// How the filters of a convolution move over the images, along rows and columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Steps between neighbouring places of a filter, at least 1.
    pub stride: [usize; 2],
    /// Zeros before the first row and column.
    pub padding: [usize; 2],
    /// Distance of neighbouring elements of a filter, at least 1.
    pub dilation: [usize; 2],
    /// Parts that images and outputs are split into along their channels, at least 1, each with filters of its own.
    pub groups: usize,
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

impl<'a> LibraryCall<'a> {
    /// The operation's name in errors and reports.
    pub fn name(&self) -> &'static str {
        match self {
            LibraryCall::MatMul { .. } => "matmul",
            LibraryCall::Sort { .. } => "sort",
            LibraryCall::Convolution { part: ConvolutionPart::Output, .. } => "convolution",
            LibraryCall::Convolution { part: ConvolutionPart::Input, .. } => "convolution, by the input",
            LibraryCall::Convolution { part: ConvolutionPart::Weight, .. } => "convolution, by the weight",
            LibraryCall::Attention { .. } => "attention",
            LibraryCall::AttentionBackward { .. } => "attention, backward",
        }
    }

    /// The tensors that are read, by name.
    pub fn inputs(&self) -> Vec<(&'static str, View<'a>)> {
        match *self {
            LibraryCall::MatMul { a, b, epilogue, .. } => {
                [("a", a), ("b", b)].into_iter().chain(epilogue.bias.map(|bias| ("bias", bias))).collect()
            }
            LibraryCall::Sort { x, .. } => vec![("x", x)],
            LibraryCall::Convolution { part, x, w, y, epilogue, .. } => {
                let read = match part {
                    ConvolutionPart::Output => [("x", x), ("w", w)],
                    ConvolutionPart::Input => [("w", w), ("y", y)],
                    ConvolutionPart::Weight => [("x", x), ("y", y)],
                };
                read.into_iter().chain(epilogue.bias.map(|bias| ("bias", bias))).collect()
            }
            LibraryCall::Attention { of, .. } => of.inputs(),
            LibraryCall::AttentionBackward { of, out, lse, d_out, .. } => {
                let mut read = of.inputs();
                read.extend([("out", out), ("lse", lse), ("d_out", d_out)]);
                read
            }
        }
    }

    /// The tensors that are written, by name.
    pub fn outputs(&self) -> Vec<(&'static str, View<'a>)> {
        match *self {
            LibraryCall::MatMul { out, .. } => vec![("out", out)],
            LibraryCall::Sort { values, at, .. } => vec![("values", values), ("at", at)],
            LibraryCall::Convolution { part: ConvolutionPart::Output, y, .. } => vec![("y", y)],
            LibraryCall::Convolution { part: ConvolutionPart::Input, x, .. } => vec![("x", x)],
            LibraryCall::Convolution { part: ConvolutionPart::Weight, w, .. } => vec![("w", w)],
            LibraryCall::Attention { out, lse, .. } => vec![("out", out), ("lse", lse)],
            LibraryCall::AttentionBackward { wanted, .. } => {
                let &AttentionGradients { d_q, d_k, d_v, d_mask } = wanted;
                let all = [("d_q", d_q), ("d_k", d_k), ("d_v", d_v), ("d_mask", d_mask)];
                all.into_iter().filter_map(|(name, view)| Some((name, view?))).collect()
            }
        }
    }
}

impl<'a> Attention<'a> {
    fn inputs(&self) -> Vec<(&'static str, View<'a>)> {
        let &Attention { q, k, v, mask, .. } = self;
        [("q", q), ("k", k), ("v", v)].into_iter().chain(mask.map(|mask| ("mask", mask))).collect()
    }
}
