//! Times kernels, those of the library among them, over 64 MiB of floats and prints one line of JSON per figure:
//! `{"name", "value", "unit"}`.
//!
//! Every figure is the median of repetitions, which are interleaved, after one round that warms memory and threads.

#![allow(clippy::print_stdout, reason = "the figures are the point")]

use cotangent::diff::{Pullback, Want};
use cotangent::{DType, Device, Rng, Tensor, kernel};
use std::hint::black_box;
use std::time::Instant;

const ROWS: usize = 16384;
const COLUMNS: usize = 1024;
const ROUNDS: usize = 9;

/// `gelu(x w + b)`, the tanh form.
#[kernel]
fn gelu_affine(x: Tensor![R.., C], w: Tensor![C], b: Tensor![C]) -> Tensor![R.., C] {
    |r, i| {
        let u = x[r][i] * w[i] + b[i];
        u * sigmoid(1.5957691216057308 * (u + 0.044715 * u * u * u))
    }
}

/// Root-mean-square normalisation over the last axis.
#[kernel]
fn rms_norm(x: Tensor![R.., C], w: Tensor![C], eps: f32) -> Tensor![R.., C] {
    |r, i| {
        let ms = mean(|j| x[r][j] * x[r][j]);
        x[r][i] * rsqrt(ms + eps) * w[i]
    }
}

/// AdamW (Loshchilov and Hutter, 2019) with the corrections of its moments as factors.
#[kernel]
fn adamw(
    w: &mut Tensor![N..],
    m: &mut Tensor![N..],
    v: &mut Tensor![N..],
    g: Tensor![N..],
    lr: f32,
    decay: f32,
    fix_m: f32,
    fix_v: f32,
) {
    |i| {
        m[i] = 0.9 * m[i] + 0.1 * g[i];
        v[i] = 0.999 * v[i] + 0.001 * g[i] * g[i];
        w[i] = w[i] * (1.0 - lr * decay) - lr * (m[i] * fix_m) / (sqrt(v[i] * fix_v) + 1e-8);
    }
}

/// A matrix product, which the library computes.
#[kernel]
fn matmul(a: Tensor![M, K], b: Tensor![K, N]) -> Tensor![M, N] {
    |i, j| sum(|k| a[i][k] * b[k][j])
}

/// A small call.
#[kernel]
fn add(a: Tensor![N], b: Tensor![N]) -> Tensor![N] {
    |i| a[i] + b[i]
}

/// What is timed, made anew for each dtype.
struct Case {
    name: &'static str,
    once: Box<dyn FnMut()>,
}

fn cases(dtype: DType) -> Vec<Case> {
    let device = Device::cpu();
    let mut rng = Rng::seed(0);
    let mut random = |shape: &[usize]| Tensor::randn(shape, &mut rng, &device).to(dtype);
    let (x, ct) = (random(&[ROWS, COLUMNS]), random(&[ROWS, COLUMNS]));
    let (w, b) = (random(&[COLUMNS]), random(&[COLUMNS]));
    let case = |name, once: Box<dyn FnMut()>| Case { name, once };
    let forward = |name, f: fn(Tensor, Tensor, Tensor) -> Tensor| {
        let (x, w, b) = (x.clone(), w.clone(), b.clone());
        case(name, Box::new(move || drop(black_box(f(x.clone(), w.clone(), b.clone())))))
    };
    let mut list = vec![
        forward("gelu(x*w+b)", gelu_affine),
        forward("softmax", |x, _, _| x.softmax(-1)),
        forward("layer norm", |x, w, b| x.layer_norm(w, b, 1e-5)),
        forward("RMS norm", |x, w, _| rms_norm(x, w, 1e-5)),
    ];
    {
        let (_, b1, w1) = (x.clone(), b.clone(), w.clone());
        let (x, ct) = (x.clone(), ct.clone());
        let run = move || {
            let (_, pull) = x.clone().layer_norm__vjp(w1.clone(), b1.clone(), 1e-5, Want::ALL);
            let start = Instant::now();
            black_box(pull.pull(Some(ct.clone()), &mut ()).0);
            BACKWARD.set(start.elapsed().as_secs_f64());
        };
        list.push(case("layer norm, backward", Box::new(run)));
    }
    {
        let (x, ct) = (x.clone(), ct.clone());
        let run = move || {
            let (_, pull) = x.clone().softmax__vjp(-1, Want::ALL);
            let start = Instant::now();
            black_box(pull.pull(Some(ct.clone()), &mut ()).0);
            BACKWARD.set(start.elapsed().as_secs_f64());
        };
        list.push(case("softmax, backward", Box::new(run)));
    }
    {
        let mut state = [x.clone() * 1.0, x.clone() * 0.0, x.clone() * 0.0];
        let g = ct;
        let run = move || {
            let [w, m, v] = &mut state;
            adamw(w, m, v, g.clone(), 1e-3, 0.01, 1.0, 1.0);
        };
        list.push(case("AdamW", Box::new(run)));
    }
    list
}

std::thread_local! {
    /// Seconds of the part of a case that counts, where it is not all of it.
    static BACKWARD: std::cell::Cell<f64> = const { std::cell::Cell::new(0.0) };
}

/// The median seconds of `once`.
fn seconds(mut once: impl FnMut()) -> f64 {
    once();
    let mut samples: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            once();
            start.elapsed().as_secs_f64()
        })
        .collect();
    samples.sort_by(f64::total_cmp);
    samples[ROUNDS / 2]
}

/// Kernels beside the operations that do the same: large products, and calls that cost more than what they compute.
fn beside_operations() {
    const SIDE: usize = 1024;
    const CALLS: usize = 10_000;
    let (device, mut rng) = (Device::cpu(), Rng::seed(0));
    let mut random = |shape: &[usize]| Tensor::randn(shape, &mut rng, &device);
    let (a, b) = (random(&[SIDE, SIDE]), random(&[SIDE, SIDE]));
    let (x, y) = (random(&[16]), random(&[16]));
    let rate = |f: fn(Tensor, Tensor) -> Tensor| {
        2e-9 * (SIDE * SIDE * SIDE) as f64 / seconds(|| drop(black_box(f(a.clone(), b.clone()))))
    };
    let call = |f: fn(Tensor, Tensor) -> Tensor| {
        1e6 / CALLS as f64 * seconds(|| (0..CALLS).for_each(|_| drop(black_box(f(x.clone(), y.clone())))))
    };
    let figures = [
        ("matrix product 1024^3, kernel", rate(matmul), "GFLOP/s"),
        ("matrix product 1024^3, operation", rate(|a, b| a.matmul(b)), "GFLOP/s"),
        ("addition of 16, kernel", call(add), "us"),
        ("addition of 16, operation", call(|a, b| a + b), "us"),
    ];
    for (name, value, unit) in figures {
        println!("{}", serde_json::json!({ "name": name, "value": value, "unit": unit }));
    }
}

fn main() {
    beside_operations();
    for (dtype, name) in [(DType::F32, "f32"), (DType::BF16, "bf16")] {
        let mut cases = cases(dtype);
        let bytes = ROWS * COLUMNS * dtype.size();
        let (from, mut to) = (vec![1u8; bytes], vec![0u8; bytes]);
        cases.push(Case { name: "memcpy", once: Box::new(move || copy(black_box(&from), &mut to)) });
        let mut samples = vec![Vec::with_capacity(ROUNDS); cases.len()];
        for round in 0..=ROUNDS {
            for (case, samples) in cases.iter_mut().zip(&mut samples) {
                BACKWARD.set(0.0);
                let start = Instant::now();
                (case.once)();
                let whole = start.elapsed().as_secs_f64();
                let part = BACKWARD.get();
                if round > 0 {
                    samples.push(if part > 0.0 { part } else { whole } * 1e3);
                }
            }
        }
        for (case, samples) in cases.iter().zip(&mut samples) {
            samples.sort_by(f64::total_cmp);
            let name = format!("{}, {name}", case.name);
            println!("{}", serde_json::json!({ "name": name, "value": samples[ROUNDS / 2], "unit": "ms" }));
        }
    }
}

/// A copy by two threads, as the kernels have.
fn copy(from: &[u8], to: &mut [u8]) {
    let half = from.len() / 2;
    let (a, b) = to.split_at_mut(half);
    std::thread::scope(|s| {
        s.spawn(|| a.copy_from_slice(&from[..half]));
        b.copy_from_slice(&from[half..]);
    });
}
