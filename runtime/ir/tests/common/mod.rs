//! Kernels and values that the tests share.
#![allow(dead_code, reason = "each test crate uses a part")]

use cotangent_ir::{Kernel, Kind, Value, eval, parse, verify};

/// xorshift64*, so that every run sees the same numbers.
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Rng {
        Rng(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// Uniform in -1.5 to 1.5.
    pub(crate) fn float(&mut self) -> f64 {
        (self.next() % (1 << 40)) as f64 / (1u64 << 40) as f64 * 3.0 - 1.5
    }

    /// A value for an argument; integers are below 3.
    pub(crate) fn value(&mut self, kind: Kind, shape: &[usize]) -> Value {
        let n: usize = shape.iter().product();
        match kind {
            Kind::Float => Value::float(shape, (0..n).map(|_| self.float()).collect()),
            Kind::Int => Value::int(shape, (0..n).map(|_| self.below(3) as i64).collect()),
            Kind::Bool => Value::truth(shape, (0..n).map(|_| self.below(2) == 1).collect()),
        }
    }
}

/// A kernel in text form, without faults.
pub(crate) fn kernel(text: &str) -> Kernel {
    let kernel = parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let faults = verify(&kernel);
    assert!(faults.is_empty(), "{faults:?}\n{text}");
    kernel
}

/// The outputs of a kernel.
pub(crate) fn run(kernel: &Kernel, args: &[Value]) -> Vec<Value> {
    eval(kernel, args).unwrap_or_else(|e| panic!("{e}\n{kernel}"))
}

pub(crate) const SOFTMAX: &str = "
kernel softmax
dim R, C
axis r < R, i < C
arg x: float[R, C]
%0 = exp(x[r, i] - max[i](x[r, i]))
out y: float[R, C]
  y[r, i] = %0 / sum[i](%0)
";

pub(crate) const LOG_SOFTMAX: &str = "
kernel log_softmax
dim R, C
axis r < R, i < C
arg x: float[R, C]
%0 = x[r, i] - max[i](x[r, i])
out y: float[R, C]
  y[r, i] = (%0) - log(sum[i](exp(%0)))
";

pub(crate) const LAYER_NORM: &str = "
kernel layer_norm
dim R, C
axis r < R, i < C
arg x: float[R, C]
arg w: float[C]
arg b: float[C]
arg eps: float
%0 = x[r, i] - sum[i](x[r, i]) / float(C)
%1 = rsqrt(sum[i](%0^2) / float(C) + eps)
out y: float[R, C]
  y[r, i] = ((%0) * %1) * w[i] + b[i]
";

pub(crate) const RMS_NORM: &str = "
kernel rms_norm
dim R, C
axis r < R, i < C
arg x: float[R, C]
arg w: float[C]
arg eps: float
out y: float[R, C]
  y[r, i] = (x[r, i] * rsqrt(sum[i](x[r, i]^2) / float(C) + eps)) * w[i]
";

pub(crate) const CROSS_ENTROPY: &str = "
kernel cross_entropy
dim R, C
axis r < R, i < C
arg x: float[R, C]
arg t: int[R]
%0 = max[i](x[r, i])
%1 = %0 + log(sum[i](exp(x[r, i] - %0)))
out loss: float
  loss = sum[r](%1 - x[r, t[r]]) / float(R)
";

pub(crate) const GELU_TANH: &str = "
kernel gelu_tanh
dim R, C
axis r < R, i < C
arg x: float[R, C]
arg b: float[C]
%0 = x[r, i] + b[i]
out y: float[R, C]
  y[r, i] = 0.5 * (%0) * (tanh(0.7978845608028654 * ((%0) + 0.044715 * %0^3)) + 1.0)
";

pub(crate) const MATMUL: &str = "
kernel matmul
dim M, K, N
axis i < M, j < N, k < K
arg a: float[M, K]
arg b: float[K, N]
out y: float[M, N]
  y[i, j] = sum[k](a[i, k] * b[k, j])
";

pub(crate) const GRAM: &str = "
kernel gram
dim M, K
axis i < M, j < M, k < K
arg x: float[M, K]
out y: float[M, M]
  y[i, j] = sum[k](x[i, k] * x[j, k])
";

pub(crate) const EMBEDDING: &str = "
kernel embedding
dim T, V, C
axis t < T, c < C
arg ids: int[T]
arg w: float[V, C]
out y: float[T, C]
  y[t, c] = w[ids[t], c]
";

pub(crate) const CONV: &str = "
kernel conv
dim R, L
axis r < R, j < L - 2, k < 3
arg x: float[R, L]
arg w: float[3]
out y: float[R, L - 2]
  y[r, j] = sum[k](x[r, j + k] * w[k])
";

pub(crate) const CONV_STRIDE: &str = "
kernel conv_stride
dim R, O
axis r < R, j < O, k < 3
arg x: float[R, 2 * O]
arg w: float[3]
out y: float[R, O]
  y[r, j] = tanh(sum[k](x?[r, 2 * j + k - 1] * w[k]))
";

pub(crate) const MAX_POOL: &str = "
kernel max_pool
dim R, O
axis r < R, j < O, k < 2
arg x: float[R, 2 * O]
out y: float[R, O]
  y[r, j] = max[k](x[r, 2 * j + k])
";

pub(crate) const MAX_POOL_OVERLAP: &str = "
kernel max_pool_overlap
dim R, O
axis r < R, j < O, k < 3
arg x: float[R, 2 * O + 1]
out y: float[R, O]
  y[r, j] = max[k](x[r, 2 * j + k])
";

pub(crate) const ROTARY: &str = "
kernel rotary
dim R, H
axis r < R, i < H
arg x: float[R, 2 * H]
arg c: float[R, H]
arg s: float[R, H]
out y: float[R, 2 * H]
  y[r, 2 * i] over r, i = x[r, 2 * i] * c[r, i] - x[r, 2 * i + 1] * s[r, i]
  y[r, 2 * i + 1] over r, i = x[r, 2 * i] * s[r, i] + x[r, 2 * i + 1] * c[r, i]
";

pub(crate) const SWIGLU: &str = "
kernel swiglu
dim R, H
axis r < R, i < H
arg x: float[R, 2 * H]
out y: float[R, H]
  y[r, i] = (x[r, i] * sigmoid(x[r, i])) * x[r, i + H]
";

pub(crate) const RMS_SWIGLU: &str = "
kernel rms_swiglu
dim R, C
axis r < R, i < C
arg x: float[R, C]
arg w: float[C]
arg a: float[C]
arg b: float[C]
%0 = (x[r, i] * rsqrt(sum[i](x[r, i]^2) / float(C) + 0.00001)) * w[i]
%1 = %0 * a[i]
out y: float[R, C]
  y[r, i] = (%1 * sigmoid(%1)) * (%0 * b[i])
";

pub(crate) const DIAGONAL: &str = "
kernel diagonal
dim M
axis i < M, j < M
arg x: float[M, M]
out y: float[M, M]
  y[i, j] = x[i, j] * x[j, i] + x[i, i]
";

pub(crate) const STENCIL: &str = "
kernel stencil
dim R, L
axis r < R, j < L - 2
arg x: float[R, L]
%0 = x[r, j] - 2.0 * x[r, j + 1] + x[r, j + 2]
out y: float[R, L - 2]
  y[r, j] = %0^2
";

pub(crate) const WINDOWS: &str = "
kernel windows
dim L
axis j < L - 2, k < 3
arg x: float[L]
%0 = exp(x[j + k])
out y: float[L - 2]
  y[j] = sum[k](%0^2) / sum[k](%0)
";

pub(crate) const CUMULATIVE: &str = "
kernel cumulative
dim R, C
axis r < R, i < C
arg x: float[R, C]
arg w: float[C]
out y: float[R, C]
  y[r, i] = sin(cumsum[i; reverse](x[r, i] * w[i])) * cumsum[i; exclusive](x[r, i]^2)
";

pub(crate) const PRODUCT: &str = "
kernel product
dim R, C
axis r < R, i < C
arg x: float[R, C]
out y: float[R]
  y[r] = prod[i](x[r, i])
";

pub(crate) const DROPOUT: &str = "
kernel dropout
dim R, C
axis r < R, i < C
arg x: float[R, C]
arg key: int
out y: float[R, C]
  y[r, i] = select((random(key, C * r + i) < 2147483648), 2.0 * x[r, i], 0.0)
";

pub(crate) const NAMED: &[(&str, &str)] = &[
    ("softmax", SOFTMAX),
    ("log_softmax", LOG_SOFTMAX),
    ("layer_norm", LAYER_NORM),
    ("rms_norm", RMS_NORM),
    ("cross_entropy", CROSS_ENTROPY),
    ("gelu_tanh", GELU_TANH),
    ("matmul", MATMUL),
    ("gram", GRAM),
    ("embedding", EMBEDDING),
    ("conv", CONV),
    ("conv_stride", CONV_STRIDE),
    ("max_pool", MAX_POOL),
    ("max_pool_overlap", MAX_POOL_OVERLAP),
    ("rotary", ROTARY),
    ("swiglu", SWIGLU),
    ("rms_swiglu", RMS_SWIGLU),
    ("diagonal", DIAGONAL),
    ("stencil", STENCIL),
    ("windows", WINDOWS),
    ("cumulative", CUMULATIVE),
    ("product", PRODUCT),
    ("dropout", DROPOUT),
];

/// A value for each dim, and so for each argument.
pub(crate) fn args(kernel: &Kernel, rng: &mut Rng) -> Vec<Value> {
    let sizes = [3usize, 4, 5];
    let dims: Vec<i64> = (0..kernel.dims.len()).map(|d| sizes[d % 3] as i64).collect();
    let shapes = shapes(kernel, &dims);
    kernel.args.iter().zip(shapes).map(|(arg, shape)| rng.value(arg.kind, &shape)).collect()
}

/// The shapes of the arguments for these dims.
pub(crate) fn shapes(kernel: &Kernel, dims: &[i64]) -> Vec<Vec<usize>> {
    let shape = |ids: &[cotangent_ir::Id]| ids.iter().map(|id| extent(kernel, *id, dims)).collect();
    kernel.args.iter().map(|arg| shape(&arg.dims)).collect()
}

/// An extent made of constants, sizes, sums and products.
fn extent(kernel: &Kernel, id: cotangent_ir::Id, dims: &[i64]) -> usize {
    use cotangent_ir::Node;
    let value = |id| extent(kernel, id, dims) as i64;
    let links = |run| kernel.links(run).iter();
    let n = match kernel.nodes[id.0 as usize] {
        Node::Const(_, n) => n.as_int(),
        Node::Size(dim) => dims[dim.0 as usize],
        Node::Sum { c, terms, .. } => c.as_int() + links(terms).map(|l| l.k.as_int() * value(l.id)).sum::<i64>(),
        Node::Prod { factors, .. } => links(factors).map(|l| value(l.id).pow(l.k.as_int() as u32)).product(),
        ref other => panic!("{other:?} in an extent"),
    };
    n as usize
}
