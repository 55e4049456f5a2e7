//! State: tensors of a model that are saved, have no gradient and change during training.

use crate::init::Init;
use crate::model::{Builder, DimDefault, FieldDims, Leaf, LeafMut, Model, Path};
use crate::raise::raise;
use crate::tensor::Tensor;
use cotangent_hal::Error;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A tensor that a forward pass may replace through `cx.update`, such as a running mean.
///
/// It is changed through a shared reference, since a pullback borrows the model. A clone is independent.
pub struct State(Mutex<Tensor>);

impl State {
    /// A state with this value.
    pub fn new(tensor: Tensor) -> Self {
        State(Mutex::new(tensor))
    }

    /// The present value; a reference count.
    pub fn get(&self) -> Tensor {
        self.lock().clone()
    }

    /// Replaces the value, by one of the same shape.
    ///
    /// # Panics
    /// Raises `Error::Shape` where the shapes differ.
    #[track_caller]
    pub fn set(&self, tensor: Tensor) {
        let old = self.get();
        if tensor.shape() != old.shape() {
            raise(Error::Shape {
                op: "State::set".into(),
                message: format!("the state is {:?}, the new value {:?}", old.shape(), tensor.shape()),
            });
        }
        *self.lock() = tensor;
    }

    /// Replaces the value without a check, for a change of device or dtype.
    pub(crate) fn replace(&self, tensor: Tensor) {
        *self.lock() = tensor;
    }

    /// The lock is held for a move or a reference count alone, so a poisoned one still holds a whole value.
    fn lock(&self) -> MutexGuard<'_, Tensor> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clone for State {
    fn clone(&self) -> Self {
        State::new(self.get())
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.get();
        write!(f, "State({}{:?})", value.dtype(), value.shape())
    }
}

/// A state is a model of one leaf, whose config is its shape; built on its own it is zero.
impl Model for State {
    type Config = Vec<usize>;
    type Grads = ();
    const NAME: &'static str = "State";
    const DIMS: &'static [&'static str] = &[];
    const DEFAULTS: &'static [Option<DimDefault>] = &[];
    const REQUIRED: &'static [&'static str] = &[];
    const FIELDS: &'static [FieldDims] = &[];

    fn build(config: &Vec<usize>, at: &mut Builder<'_>) -> Self {
        at.state("", config, Init::Zeros)
    }
    fn config(&self) -> Vec<usize> {
        self.get().shape().to_vec()
    }
    fn visit(&self, path: &Path<'_>, f: &mut dyn FnMut(&Path<'_>, Leaf<'_>)) {
        f(path, Leaf::State(self));
    }
    fn visit_mut(&mut self, path: &Path<'_>, f: &mut dyn FnMut(&Path<'_>, LeafMut<'_>)) {
        f(path, LeafMut::State(self));
    }
    fn trainable(&self) -> bool {
        false
    }
}
