//! Times operations in this process and prints one line of JSON per figure: `{"name", "value", "unit"}`.
//!
//! Every figure is the median of repetitions, which are interleaved: each round takes every figure once, so that a busy
//! machine disturbs all of them alike.

#![allow(clippy::print_stdout, reason = "the figures are the point")]

use cotangent::diff::{Pullback, Want};
use cotangent::ops::AddVjp;
use cotangent::{Device, Tensor, kernel};
use std::hint::black_box;
use std::time::Instant;

/// One thing to measure; `once` gives one sample in `unit`.
struct Figure {
    name: &'static str,
    unit: &'static str,
    once: fn() -> f64,
}

const FIGURES: &[Figure] = &[
    Figure { name: "add [16]", unit: "ns/op", once: adds },
    Figure { name: "add [16], forward and backward", unit: "ns/op", once: adds_backward },
    Figure { name: "add [16], as a kernel", unit: "ns/op", once: adds_by_kernel },
    Figure { name: "matmul 1024^3", unit: "GFLOP/s", once: matmul },
    Figure { name: "matmul 1024^3, as a kernel", unit: "GFLOP/s", once: matmul_by_kernel },
];

const ROUNDS: usize = 15;

/// Additions in a chain.
const CHAIN: usize = 1000;

fn main() {
    let mut samples = vec![Vec::with_capacity(ROUNDS); FIGURES.len()];
    // The first round warms caches and threads.
    for round in 0..=ROUNDS {
        for (figure, samples) in FIGURES.iter().zip(&mut samples) {
            let sample = (figure.once)();
            if round > 0 {
                samples.push(sample);
            }
        }
    }
    for (figure, samples) in FIGURES.iter().zip(&mut samples) {
        samples.sort_by(f64::total_cmp);
        let value = samples[ROUNDS / 2];
        println!("{}", serde_json::json!({ "name": figure.name, "value": value, "unit": figure.unit }));
    }
}

fn vector() -> Tensor {
    Tensor::full([16], 1.0f32, &Device::default())
}

/// Nanoseconds for each of a thousand chained additions, buffers reused in place.
fn adds() -> f64 {
    let (mut x, y) = (vector(), vector());
    let start = Instant::now();
    for _ in 0..CHAIN {
        x += &y;
    }
    black_box(x.to_vec());
    start.elapsed().as_nanos() as f64 / CHAIN as f64
}

/// The same chain through the companions that a model's expansion calls, with the gradients of both ends.
fn adds_backward() -> f64 {
    let (x, y) = (vector(), vector());
    let start = Instant::now();
    let mut pullbacks = Vec::with_capacity(CHAIN);
    let mut sum = x;
    for _ in 0..CHAIN {
        let (next, pullback) = AddVjp::add__vjp(sum, y.clone(), Want::ALL);
        pullbacks.push(pullback);
        sum = next;
    }
    let (mut ct, mut ct_y) = (Some(vector()), None);
    for pullback in pullbacks.into_iter().rev() {
        let (left, right) = pullback.pull(ct, &mut ());
        ct = left;
        ct_y = match (ct_y, right) {
            (Some(a), Some(b)) => Some(a + b),
            (a, b) => a.or(b),
        };
    }
    black_box((sum.to_vec(), ct.map(|c| c.to_vec()), ct_y.map(|c: Tensor| c.to_vec())));
    start.elapsed().as_nanos() as f64 / CHAIN as f64
}

/// The sum of two vectors.
#[kernel]
fn sum_of(a: Tensor![N], b: Tensor![N]) -> Tensor![N] {
    |i| a[i] + b[i]
}

/// As [`adds`], by a kernel of the user's.
fn adds_by_kernel() -> f64 {
    let (mut x, y) = (vector(), vector());
    let start = Instant::now();
    for _ in 0..CHAIN {
        x = sum_of(x, y.clone());
    }
    black_box(x.to_vec());
    start.elapsed().as_nanos() as f64 / CHAIN as f64
}

/// Billions of floating-point operations a second in one product of square matrices.
fn matmul() -> f64 {
    product(|a, b| a.matmul(b))
}

/// The product in index notation, which becomes that of the library.
#[kernel]
fn product_of(a: Tensor![M, K], b: Tensor![K, N]) -> Tensor![M, N] {
    |i, j| sum(|k| a[i][k] * b[k][j])
}

/// As [`matmul`], by a kernel of the user's.
fn matmul_by_kernel() -> f64 {
    product(product_of)
}

fn product(of: fn(Tensor, Tensor) -> Tensor) -> f64 {
    const N: usize = 1024;
    let a = Tensor::full([N, N], 0.5f32, &Device::default());
    let b = Tensor::full([N, N], 0.25f32, &Device::default());
    let start = Instant::now();
    black_box(of(a, b).narrow(0, 0, 1).to_vec());
    2.0 * (N as f64).powi(3) / start.elapsed().as_nanos() as f64
}
