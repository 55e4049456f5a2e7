//! Optimisers: `opt.step(&mut model, grads)`.
//!
//! A step walks gradients and parameters by path. State is keyed by path and made at first use, so that an optimiser
//! needs no model to be made; it is saved and restored with [`Stateful`](crate::record::Stateful). State is in `f32`
//! (in `f64` for parameters of that dtype). A parameter of 16 bits is changed through a master copy in `f32`, and is
//! that copy rounded, so that steps smaller than its own last place add up.
//!
//! **Invariant:** `step` is generic in its shell alone; everything else is compiled once, here.

mod adam;
mod clip;
mod master;
mod sgd;

pub use adam::{Adam, AdamW};
pub use clip::{clip_grad_norm, clip_grad_value};
pub use sgd::Sgd;

use crate::model::{Erased, Grads, Leaf, LeafMut, Param, Path, Ties};
use crate::raise::raise;
use crate::tensor::Tensor;
use cotangent_hal::Error;
use master::Masters;
use std::collections::{BTreeMap, BTreeSet};

/// The gradients of a step by path; those of tied parameters are summed under the owner's path.
struct Gradients {
    by_path: BTreeMap<String, Tensor>,
    ties: Ties,
}

/// Takes all gradients that are not zero, with their paths.
fn collect(grads: &mut impl Grads) -> Vec<(String, Tensor)> {
    let mut found = Vec::new();
    grads.visit(&Path::ROOT, &mut |path, grad| {
        if let Some(grad) = grad.take() {
            found.push((path.to_string(), grad));
        }
    });
    found
}

/// Compares all gradients with the parameters before any is changed, so that wrong ones leave the model as it was.
#[track_caller]
fn gradients(model: &dyn Erased, found: Vec<(String, Tensor)>) -> Gradients {
    let ties = Ties::of(model);
    let mut shapes = BTreeMap::new();
    model.visit_leaves(&Path::ROOT, &mut |path, leaf| match leaf {
        Leaf::Param(param) => {
            shapes.insert(path.to_string(), param.raw.shape);
        }
        Leaf::State(_) | Leaf::Tie { .. } => {}
    });
    let mut by_path: BTreeMap<String, Tensor> = BTreeMap::new();
    for (path, grad) in found {
        let owner = ties.owner(&path).into_owned();
        match shapes.get(&owner) {
            None => unknown(&path, &owner),
            Some(shape) if shape[..] != *grad.shape() => unlike(&path, shape, grad.shape()),
            Some(_) => {}
        }
        let sum = match by_path.remove(&owner) {
            Some(other) => other + grad,
            None => grad,
        };
        by_path.insert(owner, sum);
    }
    Gradients { by_path, ties }
}

#[cold]
#[track_caller]
fn unknown(path: &str, owner: &str) -> ! {
    let tied = if path == owner { String::new() } else { format!(" (tied to `{owner}`)") };
    let message =
        format!("there is a gradient for `{path}`{tied}, but the model has no such parameter; is it another model's?");
    raise(Error::Argument { op: "step".into(), message })
}

#[cold]
#[track_caller]
fn unlike(path: &str, param: &[usize], grad: &[usize]) -> ! {
    let message = format!("`{path}` is {param:?}, its gradient {grad:?}; is it another model's?");
    raise(Error::Shape { op: "step".into(), message })
}

/// Updates every parameter that has a gradient and requires one; aliases of tied parameters get the owner's tensor.
#[track_caller]
fn walk(model: &mut dyn Erased, grads: Gradients, update: &mut dyn FnMut(&str, &mut Param, Tensor)) {
    let Gradients { mut by_path, ties } = grads;
    let released = Released::of(model, &ties);
    released.model.visit_leaves_mut(&Path::ROOT, &mut |path, leaf| {
        let LeafMut::Param(param) = leaf else { return };
        let path = path.to_string();
        if let Some(grad) = by_path.remove(&path)
            && param.requires_grad()
        {
            update(&path, param, grad);
        }
    });
}

/// A model whose aliases hold no reference to their owners' memory, so that it can be changed in place. They get the
/// owners' tensors again when this is dropped, by an error as well.
struct Released<'a> {
    model: &'a mut dyn Erased,
    ties: &'a Ties,
}

impl<'a> Released<'a> {
    fn of(model: &'a mut dyn Erased, ties: &'a Ties) -> Self {
        if !ties.is_empty() {
            let mut paths = BTreeSet::new();
            model.visit_leaves(&Path::ROOT, &mut |path, leaf| {
                if let Leaf::Param(_) = leaf {
                    paths.insert(path.to_string());
                }
            });
            model.visit_leaves_mut(&Path::ROOT, &mut |path, leaf| {
                let LeafMut::Param(param) = leaf else { return };
                let path = path.to_string();
                if ties.is_alias(&path) && paths.contains(ties.owner(&path).as_ref()) {
                    param.replace(Tensor::zeros([0], param.device()));
                }
            });
        }
        Released { model, ties }
    }
}

impl Drop for Released<'_> {
    fn drop(&mut self) {
        self.ties.share(self.model);
    }
}

/// Gives the tensor memory of its own, contiguous, so that it can be changed in place.
pub(crate) fn make_unique(tensor: &mut Tensor) {
    if !tensor.is_contiguous() || !tensor.raw.buffer.is_unique() {
        tensor.raw = tensor.raw.copy();
    }
}

/// A tensor of an optimiser's state: zero at first, shaped like the parameter, in the dtype that is computed in.
fn state<'s>(states: &'s mut BTreeMap<String, Tensor>, path: &str, param: &Param) -> &'s mut Tensor {
    if !states.contains_key(path) {
        let zeros = Tensor::zeros(param.shape(), param.device()).to(param.dtype().compute());
        states.insert(path.to_owned(), zeros);
    }
    match states.get_mut(path) {
        Some(tensor) if tensor.shape() != param.shape() => {
            let (state, shape) = (tensor.shape(), param.shape());
            let message =
                format!("the state of `{path}` is {state:?}, the parameter {shape:?}; is it another model's?");
            raise(Error::Shape { op: "step".into(), message })
        }
        Some(tensor) => {
            make_unique(tensor);
            tensor
        }
        None => raise(Error::Argument { op: "step".into(), message: format!("no state for `{path}`") }),
    }
}
