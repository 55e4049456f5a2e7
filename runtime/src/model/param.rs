//! Parameters: tensors that an optimiser changes.

use crate::init::Init;
use crate::model::{Builder, DimDefault, FieldDims, Leaf, LeafMut, Model, Path};
use crate::raise::raise;
use crate::tensor::Tensor;
use cotangent_hal::Error;
use std::fmt;
use std::ops::Deref;

/// A tensor of a model that is trained: it dereferences to the [`Tensor`].
///
/// A clone shares the memory until one of both is changed.
#[derive(Clone)]
pub struct Param {
    tensor: Tensor,
    requires_grad: bool,
}

impl Param {
    /// A parameter that requires a gradient.
    pub fn new(tensor: Tensor) -> Self {
        Param { tensor, requires_grad: true }
    }

    /// The tensor; a reference count.
    pub fn tensor(&self) -> Tensor {
        self.tensor.clone()
    }

    /// Replaces the tensor, by one of the same shape.
    ///
    /// Where `#[tied]` gives a tensor two names that are both fields, set both: the other one keeps its tensor, until the
    /// next step of an optimiser gives every name the tensor of the tie's target.
    ///
    /// # Panics
    /// Raises `Error::Shape` where the shapes differ.
    #[track_caller]
    pub fn set(&mut self, tensor: Tensor) {
        if tensor.shape() != self.tensor.shape() {
            raise(Error::Shape {
                op: "Param::set".into(),
                message: format!("the parameter is {:?}, the new value {:?}", self.tensor.shape(), tensor.shape()),
            });
        }
        self.tensor = tensor;
    }

    /// Whether gradients are computed for it and optimisers change it.
    pub fn requires_grad(&self) -> bool {
        self.requires_grad
    }

    /// Freezes (`false`) or trains (`true`) it from now on.
    pub fn set_requires_grad(&mut self, on: bool) {
        self.requires_grad = on;
    }

    /// Replaces the tensor without a check, for a change of device or dtype and for ties.
    pub(crate) fn replace(&mut self, tensor: Tensor) -> Tensor {
        std::mem::replace(&mut self.tensor, tensor)
    }

    /// Changes the tensor's memory in place, after a copy where another tensor shares it or it is not contiguous.
    pub(crate) fn update(&mut self, f: impl FnOnce(&mut Tensor)) {
        crate::optim::make_unique(&mut self.tensor);
        f(&mut self.tensor);
    }
}

impl Deref for Param {
    type Target = Tensor;
    fn deref(&self) -> &Tensor {
        &self.tensor
    }
}

impl fmt::Debug for Param {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Param({}{:?}", self.tensor.dtype(), self.tensor.shape())?;
        f.write_str(if self.requires_grad { ")" } else { ", frozen)" })
    }
}

/// A parameter is a model of one leaf, whose config is its shape; built on its own it is zero.
impl Model for Param {
    type Config = Vec<usize>;
    type Grads = Option<Tensor>;
    const NAME: &'static str = "Param";
    const DIMS: &'static [&'static str] = &[];
    const DEFAULTS: &'static [Option<DimDefault>] = &[];
    const REQUIRED: &'static [&'static str] = &[];
    const FIELDS: &'static [FieldDims] = &[];

    fn build(config: &Vec<usize>, at: &mut Builder<'_>) -> Self {
        at.param("", config, Init::Zeros)
    }
    fn config(&self) -> Vec<usize> {
        self.tensor.shape().to_vec()
    }
    fn visit(&self, path: &Path<'_>, f: &mut dyn FnMut(&Path<'_>, Leaf<'_>)) {
        f(path, Leaf::Param(self));
    }
    fn visit_mut(&mut self, path: &Path<'_>, f: &mut dyn FnMut(&Path<'_>, LeafMut<'_>)) {
        f(path, LeafMut::Param(self));
    }
    fn trainable(&self) -> bool {
        self.requires_grad
    }
}
