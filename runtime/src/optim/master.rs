//! Copies in `f32` of parameters of 16 bits.

use super::make_unique;
use crate::model::Param;
use crate::record::{named, unnamed};
use crate::tensor::Tensor;
use std::collections::BTreeMap;

/// The kind of these tensors in a checkpoint.
const KIND: &str = "master_param";

/// The master copies of a model's parameters by path, made at first use.
#[derive(Clone, Debug, Default)]
pub(super) struct Masters(BTreeMap<String, Master>);

#[derive(Clone, Debug)]
struct Master {
    weights: Tensor,
    /// What the parameter was given. A parameter that holds another tensor has been set by someone else since, and the
    /// copy starts from that. `None` in one that was restored, whose parameter was restored with it.
    rounded: Option<Tensor>,
}

impl Masters {
    /// Changes a parameter in place: where it is of 16 bits its master copy, which it then becomes, rounded once.
    pub(super) fn update(&mut self, path: &str, param: &mut Param, f: impl FnOnce(&mut Tensor)) {
        let dtype = param.dtype();
        if !dtype.is_half() {
            // The copy of a parameter that has become wider is of no use.
            self.0.remove(path);
            return param.update(f);
        }
        let mut weights = match self.0.remove(path) {
            Some(master) if master.is_of(param) => master.weights,
            Some(_) | None => param.tensor().float(),
        };
        make_unique(&mut weights);
        f(&mut weights);
        let rounded = weights.clone().to(dtype);
        param.replace(rounded.clone());
        self.0.insert(path.to_owned(), Master { weights, rounded: Some(rounded) });
    }

    /// The copies, as a checkpoint holds them.
    pub(super) fn tensors(&self) -> Vec<(String, Tensor)> {
        named(KIND, &self.0.iter().map(|(path, master)| (path.clone(), master.weights.clone())).collect())
    }

    /// The inverse of [`tensors`](Self::tensors).
    pub(super) fn restored(tensors: &[(String, Tensor)]) -> Masters {
        let weights = unnamed(KIND, tensors).into_iter();
        Masters(weights.map(|(path, weights)| (path, Master { weights, rounded: None })).collect())
    }
}

impl Master {
    fn is_of(&self, param: &Param) -> bool {
        match &self.rounded {
            Some(rounded) => rounded.raw.buffer.same(&param.raw.buffer) && rounded.dtype() == param.dtype(),
            None => self.weights.shape() == param.shape(),
        }
    }
}
