//! Times chains of operations in models' bodies, fused and not, over 64 MiB of floats: one line of JSON per figure,
//! `{"name", "value", "unit"}`.
//!
//! Every figure is the median of interleaved repetitions, after one round that warms memory and threads.

#![allow(clippy::print_stdout, reason = "the figures are the point")]

use cotangent::diff::{Pullback, Want};
use cotangent::prelude::*;
use std::hint::black_box;
use std::time::Instant;

const ROWS: usize = 16384;
const COLUMNS: usize = 1024;
const ROUNDS: usize = 7;

/// Declares a body twice, the second time without fusion.
macro_rules! pair {
    ($fused:ident $plain:ident ($($x:ident),*) { $($body:tt)* }) => {
        #[model]
        fn $fused($($x: Tensor),*) -> Tensor { $($body)* }

        #[model]
        #[no_fuse]
        fn $plain($($x: Tensor),*) -> Tensor { $($body)* }
    };
}

pair!(gelu gelu_plain (x, w, b) { (x * w + b).gelu_tanh() });
pair!(swiglu swiglu_plain (x, y) { x.silu() * y });
pair!(residual residual_plain (x, y, w) {
    let h = x + y;
    h * (h.square().mean_keepdim(-1) + 1e-5).rsqrt() * w
});
pair!(attention attention_plain (x, m) { (x * 0.125 + m).softmax(-1) });

/// What is timed.
struct Case {
    name: String,
    once: Box<dyn FnMut()>,
}

/// Adds the forward pass and both passes of a function.
macro_rules! cases {
    ($list:ident, $ct:ident: $($f:ident($($x:ident),*);)*) => { $({
        let inputs = ($($x.clone(),)*);
        $list.push(Case {
            name: concat!(stringify!($f), " forward").into(),
            once: Box::new(move || {
                let ($($x,)*) = inputs.clone();
                black_box($f($($x),*));
            }),
        });
        let inputs = ($($x.clone(),)*);
        let ct = $ct.clone();
        $list.push(Case {
            name: concat!(stringify!($f), " forward and backward").into(),
            once: Box::new(move || {
                let ($($x,)*) = inputs.clone();
                let (y, back) = $f::vjp($($x,)* Want::ALL);
                drop(y);
                black_box(back.pull(Some(ct.clone()), &mut ()));
            }),
        });
    })* };
}

fn main() {
    let (device, mut rng) = (Device::cpu(), Rng::seed(0));
    let mut random = |shape: &[usize]| Tensor::randn(shape.to_vec(), &mut rng, &device);
    let large = random(&[ROWS, COLUMNS]);
    let (x, y, m) = (large.clone(), random(&[ROWS, COLUMNS]), random(&[COLUMNS]));
    let (w, b) = (random(&[COLUMNS]), random(&[COLUMNS]));
    let mut list: Vec<Case> = vec![];
    cases! { list, large:
        gelu(x, w, b); gelu_plain(x, w, b);
        swiglu(x, y); swiglu_plain(x, y);
        residual(x, y, w); residual_plain(x, y, w);
        attention(x, m); attention_plain(x, m);
    }
    let mut times: Vec<Vec<f64>> = vec![vec![]; list.len()];
    for round in 0..=ROUNDS {
        for (case, times) in list.iter_mut().zip(&mut times) {
            let start = Instant::now();
            (case.once)();
            if round > 0 {
                times.push(start.elapsed().as_secs_f64() * 1e3);
            }
        }
    }
    for (case, mut times) in list.into_iter().zip(times) {
        times.sort_by(f64::total_cmp);
        println!("{}", serde_json::json!({ "name": case.name, "value": times[times.len() / 2], "unit": "ms" }));
    }
}
