//! Attention and its gradients against their definition, over extents that reach every method.

mod views;

use cotangent_cpu::CpuBackend;
use cotangent_hal::{Attention, AttentionGradients, Backend, DType, Error, LibraryCall};
use views::{Random, Tensor, cases};

/// Extents of a call, in the letters of [`Attention`]: batch, groups, heads of a group.
#[derive(Clone, Copy, Debug)]
struct Extents {
    b: usize,
    g: usize,
    n: usize,
    t: usize,
    s: usize,
    d: usize,
    e: usize,
}

impl Extents {
    fn heads(&self) -> usize {
        self.g * self.n
    }
}

/// Operands of a call.
struct Operands {
    extents: Extents,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Option<Tensor>,
    causal: bool,
    scale: f64,
    out: Tensor,
    lse: Tensor,
    d_out: Tensor,
    /// Gradients of queries, keys, values and the mask.
    grads: [Tensor; 4],
}

/// What the definition gives.
#[derive(Default)]
struct Wanted {
    out: Vec<f64>,
    lse: Vec<f64>,
    grads: [Vec<f64>; 4],
    /// The largest gradient of a weight, from which the others come by cancellation.
    steepest: f64,
}

impl Operands {
    fn random(cpu: &CpuBackend, r: &mut Random, extents: Extents, dtype: DType, strided: bool) -> Operands {
        let Extents { b, g, t, s, d, e, .. } = extents;
        let h = extents.heads();
        let tensor = |r: &mut Random, dtype, shape: &[usize], repeat| {
            if strided {
                Tensor::strided(cpu, r, dtype, shape, repeat)
            } else {
                Tensor::contiguous(cpu, r, dtype, shape)
            }
        };
        let mask = match r.below(4) {
            0 => Some(tensor(r, DType::Bool, &[b, h, t, s], true)),
            1 => Some(tensor(r, dtype, &[b, h, t, s], true)),
            _ => None,
        };
        let causal = r.once_in(2);
        let compute = dtype.compute();
        Operands {
            extents,
            q: tensor(r, dtype, &[b, h, t, d], true),
            k: tensor(r, dtype, &[b, g, s, d], true),
            v: tensor(r, dtype, &[b, g, s, e], true),
            mask,
            causal,
            // Values reach 8: larger products would leave one weight alone.
            scale: 0.02 / (d.max(1) as f64).sqrt(),
            out: tensor(r, dtype, &[b, h, t, e], false),
            lse: tensor(r, compute, &[b, h, t], false),
            d_out: tensor(r, dtype, &[b, h, t, e], true),
            grads: [
                tensor(r, dtype, &[b, h, t, d], false),
                tensor(r, dtype, &[b, g, s, d], false),
                tensor(r, dtype, &[b, g, s, e], false),
                tensor(r, compute, &[b, h, t, s], false),
            ],
        }
    }

    fn of(&self) -> Attention<'_> {
        let mask = self.mask.as_ref().map(Tensor::view);
        let (q, k, v) = (self.q.view(), self.k.view(), self.v.view());
        Attention { q, k, v, mask, causal: self.causal, scale: self.scale }
    }

    fn forward(&self, cpu: &CpuBackend) -> Result<(), Error> {
        cpu.library(&LibraryCall::Attention { of: &self.of(), out: self.out.view(), lse: self.lse.view() })
    }

    /// The gradients of which `wanted` is set.
    fn backward(&self, cpu: &CpuBackend, wanted: [bool; 4]) -> Result<(), Error> {
        let grad = |i: usize| wanted[i].then(|| self.grads[i].view());
        cpu.library(&LibraryCall::AttentionBackward {
            of: &self.of(),
            out: self.out.view(),
            lse: self.lse.view(),
            d_out: self.d_out.view(),
            wanted: &AttentionGradients { d_q: grad(0), d_k: grad(1), d_v: grad(2), d_mask: grad(3) },
        })
    }

    /// The definition, in `f64`.
    fn wanted(&self, cpu: &CpuBackend) -> Wanted {
        let Extents { b, g, n, t, s, d, e } = self.extents;
        let [q, k, v, d_out] = [&self.q, &self.k, &self.v, &self.d_out].map(|x| x.values(cpu));
        let mask = self.mask.as_ref().map(|mask| (mask.dtype, mask.values(cpu)));
        let mut wanted = Wanted::default();
        let [d_q, d_k, d_v, d_mask] = &mut wanted.grads;
        (*d_q, *d_k, *d_v) = (vec![0.0; q.len()], vec![0.0; k.len()], vec![0.0; v.len()]);
        for row in 0..b * g * n * t {
            let (i, group) = (row % t, row / t / n);
            let scores: Vec<f64> = (0..s)
                .map(|j| {
                    let dot: f64 = (0..d).map(|l| q[row * d + l] * k[(group * s + j) * d + l]).sum();
                    let score = match &mask {
                        Some((DType::Bool, mask)) if mask[row * s + j] == 0.0 => f64::NEG_INFINITY,
                        Some((dtype, mask)) if dtype.is_float() => dot * self.scale + mask[row * s + j],
                        _ => dot * self.scale,
                    };
                    if self.causal && j > i { f64::NEG_INFINITY } else { score }
                })
                .collect();
            let largest = scores.iter().fold(f64::NEG_INFINITY, |m, &x| m.max(x));
            let base = if largest == f64::NEG_INFINITY { 0.0 } else { largest };
            let sum: f64 = scores.iter().map(|x| (x - base).exp()).sum();
            let p: Vec<f64> = scores.iter().map(|x| if sum == 0.0 { 0.0 } else { (x - base).exp() / sum }).collect();
            wanted.lse.push(base + sum.ln());
            let out: Vec<f64> = (0..e).map(|l| (0..s).map(|j| p[j] * v[(group * s + j) * e + l]).sum()).collect();
            let d_out = &d_out[row * e..(row + 1) * e];
            let inner: f64 = out.iter().zip(d_out).map(|(y, d)| y * d).sum();
            wanted.out.extend(&out);
            for (j, &p) in p.iter().enumerate() {
                let key = group * s + j;
                let d_p: f64 = (0..e).map(|l| d_out[l] * v[key * e + l]).sum();
                wanted.steepest = wanted.steepest.max(d_p.abs());
                let d_score = p * (d_p - inner);
                d_mask.push(d_score);
                for l in 0..d {
                    d_q[row * d + l] += self.scale * d_score * k[key * d + l];
                    d_k[key * d + l] += self.scale * d_score * q[row * d + l];
                }
                for l in 0..e {
                    d_v[key * e + l] += p * d_out[l];
                }
            }
        }
        wanted
    }
}

/// Compares values with a tolerance beside the largest, or beside `size`.
fn close(got: &[f64], wanted: &[f64], size: f64, dtype: DType, what: &str) {
    let tolerance = match dtype {
        DType::F64 => 1e-12,
        DType::F32 => 2e-5,
        DType::F16 => 4e-3,
        DType::BF16 | DType::I64 | DType::I32 | DType::U8 | DType::Bool => 3e-2,
    };
    let size = wanted.iter().filter(|x| x.is_finite()).fold(size, |m, x| m.max(x.abs()));
    assert_eq!(got.len(), wanted.len(), "{what}");
    for (at, (&got, &wanted)) in got.iter().zip(wanted).enumerate() {
        let equal = got == wanted || (got - wanted).abs() <= tolerance * size;
        assert!(equal, "{what}, element {at}: {got}, wanted {wanted}, of {size}");
    }
}

fn check(cpu: &CpuBackend, r: &mut Random, extents: Extents, dtype: DType, strided: bool) {
    let operands = Operands::random(cpu, r, extents, dtype, strided);
    let wanted = operands.wanted(cpu);
    let what = format!("{extents:?} {dtype} causal {} mask {:?}", operands.causal, operands.mask);
    operands.forward(cpu).unwrap();
    close(&operands.out.values(cpu), &wanted.out, 1.0, dtype, &format!("out of {what}"));
    close(&operands.lse.values(cpu), &wanted.lse, 1.0, dtype.compute(), &format!("lse of {what}"));
    let picked = [0; 4].map(|_| r.once_in(2));
    operands.backward(cpu, picked).unwrap();
    for (i, name) in ["d_q", "d_k", "d_v", "d_mask"].into_iter().enumerate().filter(|(i, _)| picked[*i]) {
        let grad = &operands.grads[i];
        close(&grad.values(cpu), &wanted.grads[i], wanted.steepest, dtype, &format!("{name} of {what}"));
    }
}

#[test]
fn random_extents_and_layouts() {
    let cpu = CpuBackend::new();
    for seed in cases(300) {
        let r = &mut Random(seed);
        let limit = if cfg!(miri) { 6 } else { 90 };
        let mut extent = |most: usize| if r.once_in(5) { r.below(2) } else { 1 + r.below(most) };
        let (t, s, d, e) = (extent(limit), extent(limit), extent(20), extent(40));
        let (b, g, n) = (r.below(3), 1 + r.below(2), 1 + r.below(3));
        let dtype = r.float();
        check(&cpu, r, Extents { b, g, n, t, s, d, e }, dtype, seed % 4 > 0);
    }
}

#[test]
#[cfg(not(miri))]
fn many_blocks_of_every_dtype() {
    let cpu = CpuBackend::new();
    let r = &mut Random(11);
    for (dtype, causes) in DType::FLOATS.into_iter().flat_map(|dtype| [(dtype, 0), (dtype, 1), (dtype, 2)]) {
        let (t, s) = [(200, 200), (300, 70), (1, 500)][causes];
        check(&cpu, r, Extents { b: 1, g: 1, n: 2, t, s, d: 64, e: 32 }, dtype, false);
        check(&cpu, r, Extents { b: 2, g: 2, n: 1, t, s, d: 16, e: 48 }, dtype, true);
    }
}

#[test]
#[cfg(not(miri))]
fn bits_do_not_depend_on_threads() {
    for seed in 0..3 {
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let cpu = CpuBackend::new();
                let r = &mut Random(seed);
                let extents = Extents { b: 1, g: 1 + seed as usize % 2, n: 3, t: 150, s: 170, d: 24, e: 40 };
                let operands = Operands::random(&cpu, r, extents, DType::F32, true);
                operands.forward(&cpu).unwrap();
                operands.backward(&cpu, [true; 4]).unwrap();
                let all = [&operands.out, &operands.lse].into_iter().chain(&operands.grads);
                all.map(|x| x.values(&cpu)).collect::<Vec<_>>()
            })
        };
        let one = run(1);
        assert!([2, 3, 8].into_iter().all(|threads| run(threads) == one), "seed {seed}");
    }
}

#[test]
#[cfg(not(miri))]
fn memory_grows_with_the_length_not_its_square() {
    let cpu = CpuBackend::new();
    let r = &mut Random(3);
    let extents = Extents { b: 1, g: 2, n: 1, t: 2048, s: 2048, d: 32, e: 32 };
    let mut tensor = |shape: &[usize]| Tensor::contiguous(&cpu, r, DType::F32, shape);
    let mut rows = || tensor(&[1, 2, 2048, 32]);
    let (q, k, v, out, d_out, d_q, d_k, d_v) = (rows(), rows(), rows(), rows(), rows(), rows(), rows(), rows());
    let (lse, scores) = (tensor(&[1, 2, 2048]), tensor(&[0]));
    let (mask, causal, scale, grads) = (None, true, 0.1, [d_q, d_k, d_v, scores]);
    let operands = Operands { extents, q, k, v, mask, causal, scale, out, lse, d_out, grads };
    let before = cpu.memory().used;
    // The pool grows by what a call holds at once.
    let fresh = cpu.memory().held - before;
    operands.forward(&cpu).unwrap();
    operands.backward(&cpu, [true, true, true, false]).unwrap();
    let scratch = cpu.memory().held - before - fresh;
    assert!(scratch < 2048 * 2048 * 4 / 2, "{scratch} bytes of scratch");
    assert_eq!(cpu.memory().used, before);
}

#[test]
fn what_does_not_fit_is_refused() {
    let cpu = CpuBackend::new();
    let r = &mut Random(5);
    let extents = Extents { b: 1, g: 2, n: 2, t: 3, s: 4, d: 5, e: 6 };
    let operands = || Operands { mask: None, ..Operands::random(&cpu, &mut Random(7), extents, DType::F32, false) };
    let refused = |operands: &Operands, parts: &[&str]| {
        let message = operands.forward(&cpu).unwrap_err().to_string();
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    };
    let tensor = |r: &mut Random, dtype, shape: &[usize]| Tensor::contiguous(&cpu, r, dtype, shape);
    let k = tensor(r, DType::F32, &[1, 3, 4, 5]);
    refused(&Operands { k, ..operands() }, &["[1, 4, 3, 5]", "[1, 3, 4, 5]", "H a multiple of G"]);
    let v = tensor(r, DType::F64, &[1, 2, 4, 6]);
    refused(&Operands { v, ..operands() }, &["attention", "`f64`", "`f32`"]);
    let lse = tensor(r, DType::F32, &[1, 4, 4]);
    refused(&Operands { lse, ..operands() }, &["lse has the shape [1, 4, 4], expected [1, 4, 3]"]);
    let mask = Some(tensor(r, DType::I64, &[1, 4, 3, 4]));
    refused(&Operands { mask, ..operands() }, &["`i64`", "`bool`"]);
    let mut q = tensor(r, DType::F32, &[1, 4, 3, 5]);
    q.offset = 1000;
    refused(&Operands { q, ..operands() }, &["q reaches outside its buffer"]);
    let mut out = tensor(r, DType::F32, &[1, 4, 3, 6]);
    out.strides[1] = 0;
    refused(&Operands { out, ..operands() }, &["out repeats elements"]);
    let mut all = operands();
    all.out = Tensor { shape: vec![1, 4, 3, 6], ..tensor(r, DType::F32, &[1, 4, 3, 6]) };
    all.q = Tensor { shape: vec![1, 4, 3, 5], strides: vec![72, 18, 6, 1], ..all.out.clone() };
    refused(&all, &["out overlaps q"]);
}
