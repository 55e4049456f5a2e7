//! Gradients, in structs that mirror the models they belong to.

use crate::model::Path;
use crate::raise::raise;
use crate::tensor::Tensor;
use cotangent_hal::Error;
use std::any::Any;

/// The gradients of a model's parameters: a struct with the model's field names, zero at first.
///
/// A zero is `None` and costs nothing, so one value accumulates the gradients of several calls.
pub trait Grads: Default + Send + 'static {
    /// Shows the gradient of each parameter under the parameter's path, in the order of [`Model::visit`](super::Model::visit).
    fn visit(&mut self, path: &Path<'_>, f: &mut dyn FnMut(&Path<'_>, &mut Option<Tensor>));

    /// `self += other`.
    fn add(&mut self, other: Self);
}

impl Grads for Option<Tensor> {
    fn visit(&mut self, path: &Path<'_>, f: &mut dyn FnMut(&Path<'_>, &mut Option<Tensor>)) {
        f(path, self);
    }
    fn add(&mut self, other: Self) {
        *self = match (self.take(), other) {
            (Some(a), Some(b)) => Some(a + b),
            (a, b) => a.or(b),
        };
    }
}

impl Grads for () {
    fn visit(&mut self, _: &Path<'_>, _: &mut dyn FnMut(&Path<'_>, &mut Option<Tensor>)) {}
    fn add(&mut self, (): ()) {}
}

impl<G: Grads> Grads for Vec<G> {
    fn visit(&mut self, path: &Path<'_>, f: &mut dyn FnMut(&Path<'_>, &mut Option<Tensor>)) {
        for (i, g) in self.iter_mut().enumerate() {
            g.visit(&path.index(i), f);
        }
    }
    fn add(&mut self, other: Self) {
        for (i, g) in other.into_iter().enumerate() {
            grads_at(self, i).add(g);
        }
    }
}

/// The gradients of the `i`-th element of a list, which grows to hold them.
pub fn grads_at<G: Grads>(grads: &mut Vec<G>, i: usize) -> &mut G {
    if grads.len() <= i {
        grads.resize_with(i + 1, G::default);
    }
    &mut grads[i]
}

/// The gradients of a `Box<dyn Layer>`: those of the layer in it, made when the first pullback adds to them.
#[derive(Default)]
pub struct DynGrads(Option<Box<dyn Object>>);

impl DynGrads {
    /// The gradients of a layer whose gradients are a `G`, or `None` where they are still zero or of another layer.
    pub fn downcast_mut<G: Grads>(&mut self) -> Option<&mut G> {
        self.0.as_deref_mut()?.as_any().downcast_mut()
    }

    /// As [`DynGrads::downcast_mut`], making them where they are still zero.
    ///
    /// # Panics
    /// Raises `Error::Argument` where they are those of another layer.
    pub(crate) fn get_or_default<G: Grads>(&mut self) -> &mut G {
        let object = self.0.get_or_insert_with(|| Box::new(G::default()));
        object.as_any().downcast_mut().unwrap_or_else(|| wrong_layer())
    }
}

impl Grads for DynGrads {
    fn visit(&mut self, path: &Path<'_>, f: &mut dyn FnMut(&Path<'_>, &mut Option<Tensor>)) {
        if let Some(g) = &mut self.0 {
            g.visit_object(path, f);
        }
    }
    fn add(&mut self, other: Self) {
        match (&mut self.0, other.0) {
            (_, None) => {}
            (Some(a), Some(b)) => a.add_object(b),
            (none, b) => *none = b,
        }
    }
}

/// The object-safe form of [`Grads`].
trait Object: Send {
    fn visit_object(&mut self, path: &Path<'_>, f: &mut dyn FnMut(&Path<'_>, &mut Option<Tensor>));
    fn add_object(&mut self, other: Box<dyn Object>);
    fn as_any(&mut self) -> &mut dyn Any;
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

impl<G: Grads> Object for G {
    fn visit_object(&mut self, path: &Path<'_>, f: &mut dyn FnMut(&Path<'_>, &mut Option<Tensor>)) {
        self.visit(path, f);
    }
    fn add_object(&mut self, other: Box<dyn Object>) {
        match other.into_any().downcast::<G>() {
            Ok(other) => self.add(*other),
            Err(_) => wrong_layer(),
        }
    }
    fn as_any(&mut self) -> &mut dyn Any {
        self
    }
    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// Reports gradients of one layer that meet another in the same `Box<dyn Layer>`.
#[cold]
pub(crate) fn wrong_layer() -> ! {
    raise(Error::Argument {
        op: "gradients of `Box<dyn Layer>`".into(),
        message: "they belong to a layer of another type; use the gradients with the model that made them".into(),
    })
}
