//! What the tests of all families go through: one check of shapes and gradients, one of values by PyTorch.
#![allow(dead_code, reason = "no family uses all of it")]

pub(crate) mod golden;

use cotangent::diff::{Pullback, Want};
use cotangent::prelude::*;
use cotangent::testing::{GradCheck, assert_close, check_grad};
use cotangent::{LeafMut, Path};
use std::collections::BTreeMap;

/// The device that tests run on.
pub(crate) fn device() -> Device {
    Device::cpu()
}

/// A layer with random parameters.
pub(crate) fn layer<M: Model>(config: &M::Config) -> M {
    cotangent::model::init(config, &mut Rng::seed(5), &device())
}

/// Checks a layer at an input of this shape in every layout: the shape of the result, that the plain form and the
/// companion agree, and the gradients of input and parameters against central differences.
#[track_caller]
pub(crate) fn check<L: Layer + Model>(layer: &L, input: &[usize], output: &[usize]) {
    for x in layouts(input) {
        check_at(layer, x, output);
    }
}

/// As [`check`], at one input.
#[track_caller]
pub(crate) fn check_at<L: Layer + Model>(layer: &L, x: Tensor, output: &[usize]) {
    let (y, back) = layer.forward__vjp(x.clone(), &mut Cx::eval(), Want::NONE);
    let mut grads = L::Grads::default();
    assert!(back.pull(Some(y.ones_like()), &mut grads).0.is_none(), "nothing is wanted of `x`");
    let forward = |layer: &L, xs: &[Tensor]| layer.forward(xs[0].clone(), &mut Cx::eval());
    let vjp = |layer: &L, xs: &[Tensor], ct, grads: &mut L::Grads| {
        let (_, back) = layer.forward__vjp(xs[0].clone(), &mut Cx::eval(), Want::ALL);
        vec![back.pull(Some(ct), grads).0]
    };
    assert_close(&y, &forward(layer, std::slice::from_ref(&x)), 0.0, 0.0);
    check_method(layer, &[x], output, forward, vjp);
}

/// Checks a method of a model: the shape of its result, and the gradients of inputs and parameters.
#[track_caller]
pub(crate) fn check_method<M: Model>(
    model: &M,
    inputs: &[Tensor],
    output: &[usize],
    forward: impl Fn(&M, &[Tensor]) -> Tensor,
    vjp: impl Fn(&M, &[Tensor], Tensor, &mut M::Grads) -> Vec<Option<Tensor>>,
) {
    assert_eq!(forward(model, inputs).shape(), output);
    let mut parameters = Vec::new();
    model.clone().visit_mut(&Path::ROOT, &mut |path, leaf| {
        if let LeafMut::Param(param) = leaf {
            parameters.push((path.to_string(), param.tensor()));
        }
    });
    let values: Vec<Tensor> = parameters.iter().map(|(_, value)| value.clone()).chain(inputs.to_vec()).collect();
    let changed = |values: &[Tensor]| {
        let (mut at, mut model) = (0, model.clone());
        model.visit_mut(&Path::ROOT, &mut |_, leaf| {
            if let LeafMut::Param(param) = leaf {
                param.set(values[at].clone());
                at += 1;
            }
        });
        model
    };
    check_grad(
        |values| forward(&changed(values), &values[parameters.len()..]),
        |values, ct| {
            let mut grads = M::Grads::default();
            let inputs = vjp(&changed(values), &values[parameters.len()..], ct, &mut grads);
            let mut by_path = by_path(&mut grads);
            let own = parameters.iter().map(|(path, _)| by_path.remove(path).flatten());
            own.chain(inputs).collect()
        },
        &values,
        GradCheck::default(),
    );
}

/// The gradients of a model by path.
pub(crate) fn by_path(grads: &mut impl Grads) -> BTreeMap<String, Option<Tensor>> {
    let mut found = BTreeMap::new();
    grads.visit(&Path::ROOT, &mut |path, ct| {
        found.insert(path.to_string(), ct.take());
    });
    found
}

/// Random tensors of one shape: contiguous, transposed, cut out of a larger one, and repeated along the first axis.
/// Their elements are 0.1 to 2 away from 0, where some layers have a kink.
pub(crate) fn layouts(shape: &[usize]) -> Vec<Tensor> {
    let mut rng = Rng::seed(shape.iter().sum::<usize>() as u64);
    let mut random = |shape: &[usize]| {
        let n = shape.iter().product();
        let signed = |_| (rng.uniform() * 1.9 + 0.1) as f32 * if rng.below(2) == 0 { 1.0 } else { -1.0 };
        let values: Vec<f32> = (0..n).map(signed).collect();
        Tensor::from_slice(&values, shape, &device())
    };
    let changed = |at: usize, extent: usize| {
        let mut shape = shape.to_vec();
        shape[at] = extent;
        shape
    };
    let mut out = vec![random(shape)];
    if let Some(last) = shape.len().checked_sub(1) {
        out.push(random(&changed(last, shape[last] + 3)).narrow(-1, 2, shape[last]));
        out.push(random(&changed(0, 1)).expand(shape));
    }
    if shape.len() > 1 {
        let mut turned = shape.to_vec();
        turned.reverse();
        let axes: Vec<isize> = (0..shape.len() as isize).rev().collect();
        out.push(random(&turned).permute(axes));
    }
    out
}

/// Checks that a result is an error whose text holds all of `parts`.
#[track_caller]
pub(crate) fn check_refused<T>(result: Result<T, Error>, parts: &[&str]) {
    let Err(error) = result else { panic!("an error was expected that names {parts:?}") };
    let text = error.to_string();
    for part in parts {
        assert!(text.contains(part), "`{part}` is missing in: {text}");
    }
}
