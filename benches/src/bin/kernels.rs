//! Kernels over 16 Mi elements, for `cargo xtask bench kernels`: the first line that it prints is a list of names in
//! JSON; then each line that it reads is one of them, which it runs once and answers by the milliseconds.

#![allow(clippy::print_stdout, reason = "the figures are the point")]

use cotangent::diff::{Pullback, Want};
use cotangent::{DType, Device, Rng, Tensor, kernel, model};
use std::hint::black_box;
use std::time::Instant;

const ROWS: usize = 16384;
const COLUMNS: usize = 1024;

/// `gelu(x w + b)`, the tanh form.
#[kernel]
fn gelu_affine(x: Tensor![R.., C], w: Tensor![C], b: Tensor![C]) -> Tensor![R.., C] {
    |r, i| {
        let u = x[r][i] * w[i] + b[i];
        u * sigmoid(1.5957691216057308 * (u + 0.044715 * u * u * u))
    }
}

/// The same operation by operation, in the body of a function that is differentiated.
#[model]
fn gelu_body(x: Tensor, w: Tensor, b: Tensor) -> Tensor {
    (x * w + b).gelu_tanh()
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
        forward("gelu(x*w+b), in a body", gelu_body),
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

fn main() {
    let mut all: Vec<(String, Case)> = vec![];
    for (dtype, name) in [(DType::F32, "f32"), (DType::BF16, "bf16")] {
        let bytes = ROWS * COLUMNS * dtype.size();
        let (from, mut to) = (vec![1u8; bytes], vec![0u8; bytes]);
        let copy = Case { name: "memcpy", once: Box::new(move || copy(black_box(&from), &mut to)) };
        all.extend(std::iter::once(copy).chain(cases(dtype)).map(|case| (format!("{}, {name}", case.name), case)));
    }
    let names: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
    println!("{}", serde_json::json!(names));
    for line in std::io::stdin().lines().map_while(Result::ok) {
        let Some((_, case)) = all.iter_mut().find(|(name, _)| *name == line) else { return };
        BACKWARD.set(0.0);
        let start = Instant::now();
        (case.once)();
        let whole = start.elapsed().as_secs_f64();
        let part = BACKWARD.get();
        println!("{}", if part > 0.0 { part } else { whole } * 1e3);
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
