//! Parameters of a model as a list.

use cotangent::prelude::*;
use cotangent::{Leaf, LeafMut, Path};

/// The device that tests run on.
pub(crate) fn device() -> Device {
    Device::cpu()
}

/// All parameters in the order of a visit.
pub(crate) fn parameters<M: Model>(model: &M) -> Vec<Tensor> {
    let (mut list, mut model) = (vec![], model.clone());
    model.visit_mut(&Path::ROOT, &mut |_, leaf| {
        if let LeafMut::Param(param) = leaf {
            list.push(param.tensor());
        }
    });
    list
}

/// Their paths.
pub(crate) fn paths<M: Model>(model: &M) -> Vec<String> {
    let mut list = vec![];
    model.visit(&Path::ROOT, &mut |path, leaf| {
        if let Leaf::Param(_) = leaf {
            list.push(path.to_string());
        }
    });
    list
}

/// The model with other parameters.
pub(crate) fn with_parameters<M: Model>(model: &M, list: &[Tensor]) -> M {
    let (mut at, mut model) = (0, model.clone());
    model.visit_mut(&Path::ROOT, &mut |_, leaf| {
        if let LeafMut::Param(param) = leaf {
            param.set(list[at].clone());
            at += 1;
        }
    });
    model
}
