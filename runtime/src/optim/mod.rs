//! Optimisers: `opt.step(&mut model, grads)`.
//!
//! A step walks gradients and parameters by path. State is keyed by path and made at first use, so that an optimiser
//! needs no model to be made; it is saved and restored with [`Stateful`](crate::record::Stateful).
//!
//! **Invariant:** `step` is generic in its shell alone; everything else is compiled once, here.

mod adam;
mod clip;
mod sgd;

pub use adam::{Adam, AdamW};
pub use clip::{clip_grad_norm, clip_grad_value};
pub use sgd::Sgd;

use crate::model::{Erased, Grads, LeafMut, Param, Path, Ties};
use crate::raise::raise;
use crate::tensor::Tensor;
use cotangent_hal::Error;
use std::collections::BTreeMap;

/// The gradients of a step by path; those of tied parameters are summed under the owner's path.
struct Gradients(BTreeMap<String, Tensor>);

/// All gradients, by path.
fn gradients(model: &dyn Erased, grads: &mut impl Grads) -> Gradients {
    let mut found = Vec::new();
    grads.visit(&Path::ROOT, &mut |path, grad| {
        if let Some(grad) = grad.take() {
            found.push((path.to_string(), grad));
        }
    });
    let ties = Ties::of(model);
    let mut by_path: BTreeMap<String, Tensor> = BTreeMap::new();
    for (path, grad) in found {
        let owner = ties.owner(&path).into_owned();
        let sum = match by_path.remove(&owner) {
            Some(other) => other + grad,
            None => grad,
        };
        by_path.insert(owner, sum);
    }
    Gradients(by_path)
}

/// Updates every parameter that has a gradient and requires one; aliases of tied parameters get the owner's tensor.
fn walk(model: &mut dyn Erased, mut grads: Gradients, update: &mut dyn FnMut(&str, &mut Param, Tensor)) {
    let ties = Ties::of(model);
    let mut owners: BTreeMap<String, Tensor> = BTreeMap::new();
    if !ties.is_empty() {
        release_aliases(model, &ties);
    }
    model.visit_leaves_mut(&Path::ROOT, &mut |path, leaf| {
        let LeafMut::Param(param) = leaf else { return };
        let path = path.to_string();
        if ties.is_alias(&path) {
            return;
        }
        if let Some(grad) = grads.0.remove(&path)
            && param.requires_grad()
        {
            fits(&path, param, &grad);
            update(&path, param, grad);
        }
        if !ties.is_empty() {
            owners.insert(path, param.tensor());
        }
    });
    if !ties.is_empty() {
        model.visit_leaves_mut(&Path::ROOT, &mut |path, leaf| {
            let LeafMut::Param(param) = leaf else { return };
            let path = path.to_string();
            if let Some(tensor) = owners.get(ties.owner(&path).as_ref())
                && ties.is_alias(&path)
            {
                param.replace(tensor.clone());
            }
        });
    }
    if let Some(path) = grads.0.keys().next() {
        let message =
            format!("there is a gradient for `{path}`, but the model has no such parameter; is it another model's?");
        raise(Error::Argument { op: "step".into(), message });
    }
}

/// Lets go of the aliases' references, so that the owner's memory can be changed in place.
fn release_aliases(model: &mut dyn Erased, ties: &Ties) {
    model.visit_leaves_mut(&Path::ROOT, &mut |path, leaf| {
        if let LeafMut::Param(param) = leaf
            && ties.is_alias(&path.to_string())
        {
            let empty = Tensor::zeros([0], &param.device().clone());
            param.replace(empty);
        }
    });
}

fn fits(path: &str, param: &Param, grad: &Tensor) {
    if param.shape() != grad.shape() {
        let message =
            format!("`{path}` is {:?}, its gradient {:?}; is it another model's?", param.shape(), grad.shape());
        raise(Error::Shape { op: "step".into(), message });
    }
}

/// Gives the tensor memory of its own, contiguous, so that it can be changed in place.
pub(crate) fn make_unique(tensor: &mut Tensor) {
    if !tensor.is_contiguous() || !tensor.raw.buffer.is_unique() {
        tensor.raw = tensor.raw.copy();
    }
}

/// A tensor of an optimiser's state: zero at first, shaped like the parameter.
fn state<'s>(states: &'s mut BTreeMap<String, Tensor>, path: &str, param: &Param) -> &'s mut Tensor {
    if !states.contains_key(path) {
        states.insert(path.to_owned(), Tensor::zeros(param.shape(), param.device()));
    }
    match states.get_mut(path) {
        Some(tensor) => {
            make_unique(tensor);
            tensor
        }
        None => raise(Error::Argument { op: "step".into(), message: format!("no state for `{path}`") }),
    }
}
