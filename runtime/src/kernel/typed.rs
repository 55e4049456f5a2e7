//! Between the types of a kernel's function and what runs it.

use super::call::Cotangents;
use super::run::Given;
use crate::ops::{Number, Slot};
use crate::random::Key;
use crate::tensor::{Kind, Raw, Tensor};
use cotangent_hal::Scalar;

/// What a kernel takes.
pub trait IntoGiven {
    /// The argument.
    fn given(self) -> Given;
}

impl<K: Kind> IntoGiven for Tensor<K> {
    fn given(self) -> Given {
        Given::of(self.raw)
    }
}

impl<K: Kind> IntoGiven for &Tensor<K> {
    fn given(self) -> Given {
        Given::of(self.raw.clone())
    }
}

/// A tensor that an output replaces.
impl<K: Kind> IntoGiven for &mut Tensor<K> {
    fn given(self) -> Given {
        Given::lent(self.raw.clone())
    }
}

impl<N: Number> IntoGiven for N {
    fn given(self) -> Given {
        Given::number(self.number())
    }
}

impl IntoGiven for bool {
    fn given(self) -> Given {
        Given::number(Scalar::Int(i64::from(self)))
    }
}

impl IntoGiven for Key {
    fn given(self) -> Given {
        Given::number(self.scalar())
    }
}

/// The outputs of a kernel, in order.
pub struct Outs(pub(super) std::vec::IntoIter<Option<Raw>>);

impl Outs {
    /// The next output, which the macro knows to be there and of that kind.
    #[allow(clippy::should_implement_trait, reason = "each is of a type of its own, and there is no end")]
    pub fn next<K: Kind>(&mut self) -> Tensor<K> {
        match self.0.next().flatten() {
            Some(raw) => Tensor::from_raw(raw),
            None => missing(),
        }
    }
}

#[cold]
fn missing() -> ! {
    panic!("a kernel gave fewer outputs than it declares; please report this")
}

impl Cotangents {
    /// The cotangent of the next argument.
    #[allow(clippy::should_implement_trait, reason = "each is of a type of its own, and there is no end")]
    pub fn next<S: Slot>(&mut self) -> S {
        S::slot(self.0.next().flatten().map(Tensor::from_raw))
    }
}

/// The cotangent of an output.
pub trait OfOutput {
    /// The tensor; `None` where it is zero, or where the output has none.
    fn tensor(self) -> Option<Tensor>;
}

impl OfOutput for Option<Tensor> {
    fn tensor(self) -> Option<Tensor> {
        self
    }
}

impl OfOutput for () {
    fn tensor(self) -> Option<Tensor> {
        None
    }
}
