//! Models and the operations that they are made of, for `cargo xtask bench cpu`.

use cotangent::diff::{Pullback, Want};
use cotangent::prelude::*;
use cotangent_benches::models::Training;
use cotangent_benches::{Case, serve};
use std::cell::RefCell;
use std::hint::black_box;
use std::rc::Rc;

fn main() {
    serve(gpt().into_iter().chain(attention()).collect());
}

/// A forward pass and a step of training.
fn gpt() -> [Case; 2] {
    let model = Rc::new(RefCell::new(Training::new()));
    let (forward, training) = (model.clone(), model);
    [
        Case { name: "gpt forward".into(), once: Box::new(move || forward.borrow().forward()) },
        Case {
            name: "gpt training".into(),
            once: Box::new(move || {
                black_box(training.borrow_mut().step());
            }),
        },
    ]
}

/// Causal attention over the extents of the model and of a larger one, and one query against a cache.
fn attention() -> Vec<Case> {
    let extents = [([4, 6, 256, 64], 256), ([16, 12, 1024, 64], 1024), ([1, 32, 1, 64], 4096)];
    let cases = extents.into_iter().flat_map(|([b, h, t, d], s)| {
        let mut rng = Rng::seed(0);
        let mut random = |length: usize| Tensor::randn([b, h, length, d], &mut rng, &Device::cpu());
        let (q, k, v, ct) = (random(t), random(s), random(s), random(t));
        let causal = t == s;
        let name = format!("attention [{b}, {h}, {t}, {d}] of {s} keys");
        let [a, b, c] = [&q, &k, &v].map(Tensor::clone);
        let forward = move || {
            black_box(scaled_dot_product_attention(a.clone(), b.clone(), c.clone(), causal));
        };
        let training = move || {
            let (q, k, v) = (q.clone(), k.clone(), v.clone());
            let (_, back) = scaled_dot_product_attention::vjp(q, k, v, causal, Want::ALL);
            black_box(back.pull(Some(ct.clone()), &mut ()));
        };
        [
            Case { name: format!("{name}, forward"), once: Box::new(forward) },
            Case { name: format!("{name}, forward and backward"), once: Box::new(training) },
        ]
    });
    cases.collect()
}
