//! Which operation of a case is which of ours.

use super::case::{Array, Data};
use super::inputs::{Inputs, Stop};
use super::{
    activations, attention, elementwise, further, kinds, layers, losses, movement, ops, optim, reductions, vision,
};
use cotangent::{Bool, DType, Int, Tensor};

/// Computes everything that a case of one operation expects.
pub(super) type Entry = fn(&Inputs<'_>) -> Result<Results, Stop>;

/// A name of PyTorch's with its entry.
pub(super) type Row = (&'static str, Entry);

/// The entry of an operation, if there is one.
pub(super) fn entry(op: &str) -> Option<Entry> {
    let groups = [
        activations::ROWS,
        attention::ROWS,
        elementwise::ROWS,
        further::ROWS,
        kinds::ROWS,
        layers::ROWS,
        losses::ROWS,
        movement::ROWS,
        ops::ROWS,
        optim::ROWS,
        reductions::ROWS,
        vision::ROWS,
    ];
    groups.into_iter().flatten().find(|(name, _)| *name == op).map(|(_, entry)| *entry)
}

/// What an entry computed, under the names of the case. One name may come twice: from the plain method and from its
/// companion.
#[derive(Default)]
pub(super) struct Results(Vec<(String, Option<Array>)>);

impl Results {
    pub(super) fn new() -> Results {
        Results::default()
    }

    /// A result of float elements, `out.y` for the name `y`.
    pub(super) fn out(&mut self, name: &str, y: Tensor) {
        self.0.push((format!("out.{name}"), Some(array(&y))));
    }

    /// A result of integers.
    pub(super) fn places(&mut self, name: &str, y: Tensor<Int>) {
        self.0.push((format!("out.{name}"), Some(whole(y.dtype(), y))));
    }

    /// A result of truth values.
    pub(super) fn truths(&mut self, name: &str, y: Tensor<Bool>) {
        self.0.push((format!("out.{name}"), Some(whole(DType::Bool, y.int()))));
    }

    /// A state after the step, `state_after.mean` for the name `mean`.
    pub(super) fn state(&mut self, name: &str, y: Tensor) {
        self.0.push((format!("state_after.{name}"), Some(array(&y))));
    }

    /// A state of whole numbers after the step.
    pub(super) fn count(&mut self, name: &str, y: Tensor<Int>) {
        self.0.push((format!("state_after.{name}"), Some(whole(y.dtype(), y))));
    }

    /// The gradient of an input or parameter, `grad.in.x` for the name `in.x`. `None` is zero.
    pub(super) fn grad(&mut self, name: &str, ct: Option<Tensor>) {
        self.0.push((format!("grad.{name}"), ct.map(|ct| array(&ct))));
    }

    /// Everything that has this name.
    pub(super) fn of(&self, name: &str) -> impl Iterator<Item = &Option<Array>> {
        self.0.iter().filter(move |(n, _)| n == name).map(|(_, array)| array)
    }
}

fn array(t: &Tensor) -> Array {
    let data = Data::Floats(t.clone().to(DType::F64).to_vec_of());
    Array { dtype: t.dtype(), shape: t.shape().to_vec(), data }
}

fn whole(dtype: DType, t: Tensor<Int>) -> Array {
    Array { dtype, shape: t.shape().to_vec(), data: Data::Whole(t.to(DType::I64).to_vec()) }
}
