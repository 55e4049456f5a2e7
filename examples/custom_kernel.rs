//! Operations of one's own: SwiGLU and a rotary position embedding, checked against finite differences and trained in
//! a small transformer that learns to repeat what it read some positions ago.
//!
//! `cargo run --release --example custom_kernel`

#![allow(clippy::print_stdout, reason = "a program that talks to the terminal")]

use cotangent::diff::{Pullback, Want};
use cotangent::prelude::*;

/// A gated activation: the second half of the channels, each weighted by `silu` of its partner in the first.
#[kernel]
pub fn swiglu(x: Tensor![R.., 2 * H]) -> Tensor![R.., H] {
    |r, i| x[r][i] * sigmoid(x[r][i]) * x[r][i + H]
}

/// Rotary position embedding: at time `t`, the `h`-th pair of channels is turned by the angle `t / base^(h / H)`.
#[kernel]
pub fn rotary(x: Tensor![B, T, 2 * H], base: f32) -> Tensor![B, T, 2 * H] {
    |b, t, i| {
        let h = i / 2;
        let angle = t / base.powf(h / (H as f32));
        let (even, odd) = (x[b][t][2 * h], x[b][t][2 * h + 1]);
        if i % 2 == 0 { even * cos(angle) - odd * sin(angle) } else { even * sin(angle) + odd * cos(angle) }
    }
}

/// One block of a transformer, of `2 * H` channels, over `V` tokens.
#[model(dims(V, H))]
pub struct Repeater {
    embed: Embedding![V, 2 * H],
    qkv: Linear![2*H => 6*H],
    norm: LayerNorm![2 * H],
    up: Linear![2*H => 8*H],
    down: Linear![4*H => 2*H],
    head: Linear![2*H => V],
}

#[model]
impl Repeater {
    /// The score of each token as the one that the target has here.
    pub fn forward(&self, ids: Tensor![Int; B, T]) -> Tensor![B, T, V] {
        let x = self.embed.forward(ids);
        let (q, k, v) = self.qkv.forward(x).split(2, [2 * H, 2 * H, 2 * H]);
        let x = x + scaled_dot_product_attention(rotary(q, 100.0), rotary(k, 100.0), v, true);
        let x = x + self.down.forward(swiglu(self.up.forward(self.norm.forward(x))));
        self.head.forward(x)
    }

    /// The mean cross-entropy of the scores.
    pub fn loss(&self, ids: Tensor![Int; B, T], target: Tensor![Int; B, T]) -> Tensor![] {
        self.forward(ids).reshape([B * T, V]).cross_entropy(target.reshape([B * T]))
    }
}

const VOCABULARY: usize = 32;
const LENGTH: usize = 32;
/// How far back the token lies that is to be repeated.
const BACK: usize = 4;

/// `n` sequences of random tokens, and for each position the token [`BACK`] before it, or the first.
fn batch(n: usize, rng: &mut Rng, device: &Device) -> (Tensor<Int>, Tensor<Int>) {
    let ids: Vec<i64> = (0..n * LENGTH).map(|_| rng.below(VOCABULARY) as i64).collect();
    let target: Vec<i64> = (0..n * LENGTH).map(|at| ids[at - (at % LENGTH).min(BACK)]).collect();
    (Tensor::from_vec(ids, [n, LENGTH], device), Tensor::from_vec(target, [n, LENGTH], device))
}

/// Trains a new model and gives the last loss.
pub fn train(steps: usize, seed: u64) -> f32 {
    let (device, mut rng) = (Device::default(), Rng::seed(seed));
    let mut model = Repeater::init(RepeaterConfig { V: VOCABULARY, H: 16 }, &mut rng, &device);
    let (mut opt, mut last) = (AdamW::new(3e-3), f32::NAN);
    for step in 1..=steps {
        let (ids, target) = batch(16, &mut rng, &device);
        let (loss, grads) = model.loss_grad(ids, target);
        opt.step(&mut model, grads);
        last = loss.item();
        if step % 50 == 0 {
            println!("step {step:4}  loss {last:.4}");
        }
    }
    last
}

/// The largest difference between the gradient of `sum(weight * f(x))` and central differences of step `h`, in `f64`.
///
/// `gradient` gets the input and the weights.
fn largest_error(
    f: impl Fn(Tensor) -> Tensor,
    gradient: impl Fn(Tensor, Tensor) -> Option<Tensor>,
    shape: &[usize],
    rng: &mut Rng,
) -> f64 {
    let h = 1e-4;
    let x = Tensor::randn(shape, rng, &Device::default()).double();
    let weight = Tensor::randn(f(x.clone()).shape(), rng, x.device()).double();
    let derived = gradient(x.clone(), weight.clone()).map_or(vec![], |g| g.to_vec_of::<f64>());
    let values = x.to_vec_of::<f64>();
    let moved = |i: usize, by: f64| {
        let mut values = values.clone();
        values[i] += by;
        let moved = Tensor::from_slice_of(&values, shape, x.device());
        (f(moved) * weight.clone()).sum(..).item_of::<f64>()
    };
    let error = |(i, derived): (usize, &f64)| (derived - (moved(i, h) - moved(i, -h)) / (2.0 * h)).abs();
    derived.iter().enumerate().map(error).fold(0.0, f64::max)
}

/// The largest errors of the gradients of the two kernels.
pub fn errors(seed: u64) -> [(&'static str, f64); 2] {
    let mut rng = Rng::seed(seed);
    // The companion gives the result and the pullback, from the result's cotangent to those of the arguments.
    let swiglu_ct = |x, ct| swiglu::vjp(x, Want::ALL).1.pull(Some(ct), &mut ()).0;
    let rotary_ct = |x, ct| rotary::vjp(x, 100.0, Want::ALL).1.pull(Some(ct), &mut ()).0;
    [
        ("swiglu", largest_error(swiglu, swiglu_ct, &[2, 3, 8], &mut rng)),
        ("rotary", largest_error(|x| rotary(x, 100.0), rotary_ct, &[2, 5, 6], &mut rng)),
    ]
}

/// The checks and the training.
fn main() {
    for (name, error) in errors(0) {
        println!("{name}: the gradient is within {error:.1e} of central differences");
    }
    println!("loss {:.4}", train(300, 0));
}
