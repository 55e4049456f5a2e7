//! A part of the random bodies: fused as not fused, in `f64` to a few roundings, in `f32` to what its digits allow, and
//! against central differences.

mod net;

use cotangent::prelude::*;
use cotangent::testing::{GradCheck, check_grad};
use cotangent::{DType, LeafMut, Path, Tensor};
use cotangent_body_tests::compare;
use net::{ALL, Body, Form, Net, NetConfig};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Shapes of `x` and `y`; the model has as many columns as `x`.
const SHAPES: &[(&[usize], &[usize])] =
    &[(&[4, 6], &[4, 6]), (&[4, 6], &[6]), (&[3, 4, 6], &[4, 1]), (&[1, 6], &[4, 6]), (&[5, 1], &[5, 1])];

/// A model and its inputs, for the body and the shapes of that number.
fn case(body: &Body, at: usize) -> (Net, Tensor, Tensor) {
    let ((a, b), device, mut rng) = (SHAPES[at], Device::cpu(), Rng::seed(body.seed + 1));
    let config = NetConfig {
        k: 0.6,
        deep: (body.seed as usize + at).is_multiple_of(2),
        mode: (body.seed as usize + at) % 3,
        n: 2 + at % 2,
        bias: (body.seed as usize / 2 + at).is_multiple_of(2),
        ..NetConfig::new(a[a.len() - 1])
    };
    let model = Net::init(config, &mut rng, &device);
    let (x, y) = (Tensor::randn(a.to_vec(), &mut rng, &device), Tensor::randn(b.to_vec(), &mut rng, &device));
    (model, x, y)
}

/// The loss and every cotangent, by name.
fn results(form: &Form, model: &Net, x: &Tensor, y: &Tensor) -> BTreeMap<String, Tensor> {
    let cx = || Cx::train(11);
    let (loss, mut grads, (dx, dy)) = (form.gradients)(model, x.clone(), y.clone(), &mut cx());
    let alone = (form.value)(model, x.clone(), y.clone(), &mut cx());
    assert_eq!(loss.to_vec_of::<f64>(), alone.to_vec_of::<f64>(), "the companion's loss and the method's");
    let named = [("loss", Some(loss)), ("x", dx), ("y", dy)];
    let mut all: BTreeMap<String, Tensor> = named.into_iter().filter_map(|(n, t)| Some((n.into(), t?))).collect();
    grads.visit(&Path::ROOT, &mut |path, ct| {
        all.extend(ct.take().map(|ct| (path.to_string(), ct)));
    });
    all
}

/// Runs a check of every body and shows the bodies that fail.
fn every(check: impl Fn(&Body)) {
    let mut failed = vec![];
    for body in ALL {
        if let Err(cause) = catch_unwind(AssertUnwindSafe(|| check(body))) {
            let said = cause.downcast_ref::<String>().cloned().or(cause.downcast_ref::<Error>().map(|e| e.to_string()));
            failed.push(format!("body {}: {}\n{}", body.seed, said.unwrap_or_else(|| "a panic".into()), body.text));
        }
    }
    assert!(failed.is_empty(), "{} of {} bodies fail\n{}", failed.len(), ALL.len(), failed.join("\n"));
}

#[test]
fn fused_as_not_fused() {
    every(|body| {
        for (at, shapes) in SHAPES.iter().enumerate() {
            let (model, x, y) = case(body, at);
            let (model, x, y) = (model.to(DType::F64), x.double(), y.double());
            let (fused, plain) = (results(&body.fused, &model, &x, &y), results(&body.plain, &model, &x, &y));
            compare(&fused, &plain, 1e-10, &format!("{shapes:?}"));
        }
    });
}

#[test]
fn single_precision() {
    every(|body| {
        for (at, shapes) in SHAPES.iter().enumerate() {
            let (model, x, y) = case(body, at);
            let fused = results(&body.fused, &model, &x, &y);
            let exact = results(&body.fused, &model.to(DType::F64), &x.double(), &y.double());
            assert!(fused.values().all(|t| t.dtype() == DType::F32), "all is in single precision");
            compare(&fused, &exact, 1e-3, &format!("{shapes:?}"));
        }
    });
}

#[test]
fn central_differences() {
    every(|body| {
        if !body.smooth {
            return;
        }
        let at = body.seed as usize % SHAPES.len();
        let (model, x, y) = case(body, at);
        let mut inputs = vec![x.double(), y.double()];
        let mut paths = vec![];
        let mut exact = model.clone().to(DType::F64);
        exact.visit_mut(&Path::ROOT, &mut |path, leaf| {
            if let LeafMut::Param(param) = leaf {
                inputs.push(param.tensor());
                paths.push(path.to_string());
            }
        });
        let with = |inputs: &[Tensor]| {
            let (mut model, mut rest) = (exact.clone(), inputs[2..].iter());
            model.visit_mut(&Path::ROOT, &mut |_, leaf| {
                if let (LeafMut::Param(param), Some(value)) = (leaf, rest.next()) {
                    param.set(value.clone());
                }
            });
            (model, inputs[0].clone(), inputs[1].clone())
        };
        let loss = |inputs: &[Tensor]| {
            let (model, x, y) = with(inputs);
            (body.fused.value)(&model, x, y, &mut Cx::train(11))
        };
        let cotangents = |inputs: &[Tensor], ct: Tensor| {
            let (model, x, y) = with(inputs);
            let mut all = results(&body.fused, &model, &x, &y);
            let names = ["x", "y"].into_iter().chain(paths.iter().map(|p| p.as_str()));
            names.map(|name| Some(all.remove(name)? * &ct)).collect()
        };
        let options = GradCheck { tolerance: Some(1e-6), most: 4, seed: body.seed, ..GradCheck::default() };
        check_grad(loss, cotangents, &inputs, options);
    });
}
