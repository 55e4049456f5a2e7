//! Layers whose type is known only at run time.

use crate::cx::Cx;
use crate::diff::{Pullback, Want};
use crate::model::grads::wrong_layer;
use crate::model::{DynGrads, Erased, Grads, Model};
use crate::tensor::Tensor;
use std::any::Any;

/// A model of one float tensor to another. `#[model]` implements it for every model with
/// `forward(&self, x: Tensor![..]) -> Tensor![..]`, with or without a `cx`.
///
/// `Box<dyn Layer>` is itself a model and a layer, so that lists of different layers can be fields; `L: Layer` serves
/// models that wrap any layer.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a layer",
    note = "a layer is a `#[model]` with `pub fn forward(&self, x: Tensor![..]) -> Tensor![..]`, with or without `cx: &mut Cx`"
)]
pub trait Layer: Erased + CloneLayer {
    /// The layer's result.
    fn forward(&self, x: Tensor, cx: &mut Cx) -> Tensor;

    /// The result and the pullback; bit 1 of `want` is `x`.
    #[doc(hidden)]
    #[allow(non_snake_case, reason = "companions bear the method's name")]
    fn forward__vjp(&self, x: Tensor, cx: &mut Cx, want: Want) -> (Tensor, BoxPull);
}

/// `Clone` for [`Layer`] objects.
pub trait CloneLayer {
    /// A clone in a box.
    fn clone_layer(&self) -> Box<dyn Layer>;
}

impl<L: Layer + Model> CloneLayer for L {
    fn clone_layer(&self) -> Box<dyn Layer> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Layer> {
    fn clone(&self) -> Self {
        (**self).clone_layer()
    }
}

impl Layer for Box<dyn Layer> {
    fn forward(&self, x: Tensor, cx: &mut Cx) -> Tensor {
        (**self).forward(x, cx)
    }
    fn forward__vjp(&self, x: Tensor, cx: &mut Cx, want: Want) -> (Tensor, BoxPull) {
        (**self).forward__vjp(x, cx, want)
    }
}

/// The pullback of a [`Layer`]: it adds to the layer's own gradient struct or to a [`DynGrads`].
pub struct BoxPull(Box<Pull>);

type Pull = dyn FnOnce(Option<Tensor>, &mut dyn Any) -> Option<Tensor>;

impl BoxPull {
    /// Wraps the pullback of `forward(&self, x)` of a model whose gradients are a `G`.
    pub fn new<G: Grads, P>(pullback: P) -> Self
    where
        P: Pullback<G, Ct = Option<Tensor>, In = (Option<Tensor>,)> + 'static,
    {
        BoxPull(Box::new(move |ct, grads| pullback.pull(ct, concrete::<G>(grads)).0))
    }

    /// Wraps the pullback of `forward(&self, x, cx)`.
    pub fn with_cx<G: Grads, P>(pullback: P) -> Self
    where
        P: Pullback<G, Ct = Option<Tensor>, In = (Option<Tensor>, ())> + 'static,
    {
        BoxPull(Box::new(move |ct, grads| pullback.pull(ct, concrete::<G>(grads)).0))
    }
}

impl<G: Grads> Pullback<G> for BoxPull {
    type Ct = Option<Tensor>;
    type In = (Option<Tensor>, ());
    fn pull(self, ct: Option<Tensor>, grads: &mut G) -> Self::In {
        ((self.0)(ct, grads), ())
    }
}

fn concrete<G: Grads>(grads: &mut dyn Any) -> &mut G {
    if grads.is::<G>() {
        return grads.downcast_mut().unwrap_or_else(|| wrong_layer());
    }
    match grads.downcast_mut::<DynGrads>() {
        Some(grads) => grads.get_or_default(),
        None => wrong_layer(),
    }
}

/// Implements [`Layer`] by a model's own `forward` and `forward__vjp`: `__layer!(Mlp, cx)` where they take a `cx`,
/// `__layer!(Mlp)` where not, `__layer!([L: Layer + Model] Wrap<L>, cx)` for a generic model.
#[doc(hidden)]
#[macro_export]
macro_rules! __layer {
    ([$($generics:tt)*] $model:ty) => {
        impl<$($generics)*> $crate::model::Layer for $model {
            fn forward(&self, x: $crate::tensor::Tensor, _: &mut $crate::cx::Cx) -> $crate::tensor::Tensor {
                <$model>::forward(self, x)
            }
            fn forward__vjp(
                &self,
                x: $crate::tensor::Tensor,
                _: &mut $crate::cx::Cx,
                want: $crate::diff::Want,
            ) -> ($crate::tensor::Tensor, $crate::model::BoxPull) {
                let (y, pullback) = <$model>::forward__vjp(self, x, want);
                (y, $crate::model::BoxPull::new::<<$model as $crate::model::Model>::Grads, _>(pullback))
            }
        }
    };
    ([$($generics:tt)*] $model:ty, cx) => {
        impl<$($generics)*> $crate::model::Layer for $model {
            fn forward(&self, x: $crate::tensor::Tensor, cx: &mut $crate::cx::Cx) -> $crate::tensor::Tensor {
                <$model>::forward(self, x, cx)
            }
            fn forward__vjp(
                &self,
                x: $crate::tensor::Tensor,
                cx: &mut $crate::cx::Cx,
                want: $crate::diff::Want,
            ) -> ($crate::tensor::Tensor, $crate::model::BoxPull) {
                let (y, pullback) = <$model>::forward__vjp(self, x, cx, want);
                (y, $crate::model::BoxPull::with_cx::<<$model as $crate::model::Model>::Grads, _>(pullback))
            }
        }
    };
    ($model:ty) => { $crate::__layer!([] $model); };
    ($model:ty, cx) => { $crate::__layer!([] $model, cx); };
}
