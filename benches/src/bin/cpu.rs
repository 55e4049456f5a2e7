//! Models and the operations that they are made of, for `cargo xtask bench cpu`.

use cotangent::diff::{Pullback, Want};
use cotangent::prelude::*;
use cotangent_benches::models::{Digits, Text, Training};
use cotangent_benches::{Case, serve};
use std::cell::{LazyCell, RefCell};
use std::hint::black_box;
use std::rc::Rc;

fn main() {
    let mut cases: Vec<Case> = model::<Digits>("cnn").into_iter().chain(model::<Text>("gpt")).collect();
    let single = LazyCell::new(|| Digits::of(1));
    cases.push(Case { name: "cnn of one image".into(), once: Box::new(move || single.forward()) });
    cases.extend(products());
    cases.extend(attention());
    serve(cases);
}

/// A forward pass and a step of training. The model is made when one of them runs first.
fn model<M: Training + 'static>(name: &str) -> [Case; 2] {
    let model = Rc::new(LazyCell::new(|| RefCell::new(M::new())));
    let (forward, training) = (model.clone(), model);
    [
        Case { name: format!("{name} forward"), once: Box::new(move || forward.borrow().forward()) },
        Case {
            name: format!("{name} training"),
            once: Box::new(move || {
                black_box(training.borrow_mut().step());
            }),
        },
    ]
}

/// Products of square matrices.
fn products() -> Vec<Case> {
    let kinds = [
        (DType::F32, "f32", 1024),
        (DType::F32, "f32", 2048),
        (DType::BF16, "bf16", 1024),
        (DType::BF16, "bf16", 2048),
    ];
    let cases = kinds.into_iter().map(|(dtype, name, n)| {
        let factor = move |seed| Tensor::randn([n, n], &mut Rng::seed(seed), &Device::cpu()).to(dtype);
        let factors = LazyCell::new(move || (factor(0), factor(1)));
        let once = move || {
            let (a, b) = &*factors;
            black_box(a.clone().matmul(b.clone()));
        };
        Case { name: format!("matmul {name} {n}"), once: Box::new(once) }
    });
    cases.collect()
}

/// Causal attention over the extents of the model and of a larger one, and one query against a cache.
fn attention() -> Vec<Case> {
    let extents = [([4, 6, 256, 64], 256), ([16, 12, 1024, 64], 1024), ([1, 32, 1, 64], 4096)];
    let cases = extents.into_iter().flat_map(|([b, h, t, d], s)| {
        let random = move |seed, length: usize| Tensor::randn([b, h, length, d], &mut Rng::seed(seed), &Device::cpu());
        let made = Rc::new(LazyCell::new(move || [random(0, t), random(1, s), random(2, s), random(3, t)]));
        let causal = t == s;
        let name = format!("attention [{b}, {h}, {t}, {d}] of {s} keys");
        let same = made.clone();
        let forward = move || {
            let [q, k, v, _] = (**same).clone();
            black_box(scaled_dot_product_attention(q, k, v, causal));
        };
        let training = move || {
            let [q, k, v, ct] = (**made).clone();
            let (_, back) = scaled_dot_product_attention::vjp(q, k, v, causal, Want::ALL);
            black_box(back.pull(Some(ct), &mut ()));
        };
        [
            Case { name: format!("{name}, forward"), once: Box::new(forward) },
            Case { name: format!("{name}, forward and backward"), once: Box::new(training) },
        ]
    });
    cases.collect()
}
