//! Kernels and values that the tests share.
#![allow(dead_code, reason = "each test crate uses a part")]

pub(crate) mod products;
pub(crate) mod random;

use cotangent_ir::{
    Arg, Data, Derivative, Kernel, Kind, Save, Source, Stage, Value, eval_sized, extents, parse, show, verify, vjp,
};

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
    run_sized(kernel, args, &[])
}

/// The outputs of a kernel, some of whose dims are known.
pub(crate) fn run_sized(kernel: &Kernel, args: &[Value], dims: &[Option<i64>]) -> Vec<Value> {
    eval_sized(kernel, args, dims).unwrap_or_else(|e| panic!("{e}\n{kernel}"))
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
    let mut args: Vec<Value> = kernel.args.iter().zip(shapes).map(|(a, shape)| rng.value(a.kind, &shape)).collect();
    // Scalars are small positive numbers, such as an epsilon.
    for arg in &mut args {
        if let (Data::Float(data), []) = (&mut arg.data, &arg.shape[..]) {
            data[0] = data[0].abs() + 0.1;
        }
    }
    args
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
    let node = &kernel.nodes[id.0 as usize];
    let n = if let Node::Const(_, n) = node {
        n.as_int()
    } else if let Node::Size(dim) = node {
        dims[dim.0 as usize]
    } else if let Node::Sum { c, terms, .. } = node {
        c.as_int() + links(*terms).map(|l| l.k.as_int() * value(l.id)).sum::<i64>()
    } else if let Node::Prod { factors, .. } = node {
        links(*factors).map(|l| value(l.id).pow(l.k.as_int() as u32)).product()
    } else {
        panic!("{node:?} in an extent")
    };
    n as usize
}

/// The float arguments.
pub(crate) fn floats(kernel: &Kernel) -> Vec<Arg> {
    (0..kernel.args.len() as u32).map(Arg).filter(|a| kernel.args[a.0 as usize].kind == Kind::Float).collect()
}

/// A derivative, every kernel of it verified.
pub(crate) fn derive(kernel: &Kernel, wrt: &[Arg], save: Save) -> Derivative {
    let d = vjp(kernel, wrt, save).unwrap_or_else(|e| panic!("{e:?}\n{kernel}"));
    let stage = d.stage.iter().map(|s| &s.kernel);
    for k in [&d.forward, &d.backward.kernel].into_iter().chain(stage) {
        assert!(verify(k).is_empty(), "{:?}\n{kernel}\n{k}", verify(k));
    }
    d
}

/// The cotangents of the float outputs, by output.
pub(crate) type Cotangents = Vec<Option<Value>>;

pub(crate) fn cotangents(kernel: &Kernel, outs: &[Value], rng: &mut Rng) -> Cotangents {
    let pairs = kernel.outs.iter().zip(outs);
    pairs.map(|(def, out)| (def.kind == Kind::Float).then(|| rng.value(Kind::Float, &out.shape))).collect()
}

/// The gradients by way of the derived kernels.
pub(crate) fn gradients(kernel: &Kernel, d: &Derivative, args: &[Value], cts: &Cotangents) -> Vec<Value> {
    gradients_sized(kernel, d, args, cts, &extents(kernel, args).unwrap())
}

fn gradients_sized(
    kernel: &Kernel,
    d: &Derivative,
    args: &[Value],
    cts: &Cotangents,
    dims: &[Option<i64>],
) -> Vec<Value> {
    let outs = run_sized(&d.forward, args, dims);
    let mut staged: Vec<Value> = vec![];
    let call = |stage: &Stage, staged: &[Value]| {
        let values: Vec<Value> = stage
            .sources
            .iter()
            .map(|source| match *source {
                Source::Arg(a) => args[a.0 as usize].clone(),
                Source::Out(o) => outs[o as usize].clone(),
                Source::Cotangent(o) => cts[o as usize].clone().unwrap(),
                Source::Staged(t) => staged[t as usize].clone(),
            })
            .collect();
        eval_sized(&stage.kernel, &values, dims).unwrap_or_else(|e| panic!("{e}\n{kernel}\n{}", stage.kernel))
    };
    if let Some(stage) = &d.stage {
        staged = call(stage, &[]);
    }
    call(&d.backward, &staged)
}

/// The sum of the float outputs times their cotangents.
pub(crate) fn objective(outs: &[Value], cts: &Cotangents) -> f64 {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    outs.iter().zip(cts).filter_map(|(o, c)| Some(dot(o.floats(), c.as_ref()?.floats()))).sum()
}

/// The largest error of a derivative against central differences, relative to the size of the numbers.
pub(crate) fn error(
    kernel: &Kernel,
    d: &Derivative,
    wrt: &[Arg],
    args: &[Value],
    dims: &[Option<i64>],
    rng: &mut Rng,
) -> f64 {
    let outs = run_sized(kernel, args, dims);
    let cts = cotangents(kernel, &outs, rng);
    // A difference of large numbers loses digits.
    let largest = outs.iter().flat_map(|o| o.floats()).fold(0.0f64, |m, x| m.max(x.abs()));
    let found = gradients_sized(kernel, d, args, &cts, dims);
    let mut worst = 0.0f64;
    for (&arg, found) in wrt.iter().zip(&found) {
        let at = arg.0 as usize;
        assert_eq!(found.shape, args[at].shape);
        for i in 0..found.floats().len() {
            let shifted = |h: f64| {
                let mut args = args.to_vec();
                if let Data::Float(data) = &mut args[at].data {
                    data[i] += h;
                }
                objective(&run_sized(kernel, &args, dims), &cts)
            };
            let h = 1e-5;
            let (above, below) = (shifted(h), shifted(-h));
            let difference = (above - below) / (2.0 * h);
            let off = (found.floats()[i] - difference).abs();
            // At a kink or a jump, which random numbers meet now and then, the slopes to both sides differ, and the
            // gradient may be either.
            let bend = (above + below - 2.0 * shifted(0.0)).abs() / h;
            let kink = bend > 0.01 * (1.0 + difference.abs()) && off <= 0.51 * bend;
            let error = if kink { 0.0 } else { off / (1.0 + difference.abs() + 1e-4 * largest) };
            worst = if error.is_nan() { f64::INFINITY } else { worst.max(error) };
        }
    }
    worst
}

/// A kernel's gradient by all float arguments is right, with and without saving.
pub(crate) fn check_gradient(kernel: &Kernel, args: &[Value], tolerance: f64) {
    check_gradient_sized(kernel, args, &extents(kernel, args).unwrap(), tolerance);
}

/// As `check_gradient`, where the arguments do not determine every dim.
pub(crate) fn check_gradient_sized(kernel: &Kernel, args: &[Value], dims: &[Option<i64>], tolerance: f64) {
    let wrt = floats(kernel);
    for save in [Save::Nothing, Save::Useful] {
        let d = derive(kernel, &wrt, save);
        let worst = error(kernel, &d, &wrt, args, dims, &mut Rng::new(5));
        assert!(worst < tolerance, "{save:?}: error {worst:e}\n{kernel}\n{}", show(&d.backward.kernel));
    }
}
