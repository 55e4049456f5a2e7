//! The value of a bare field in a model's body.

use crate::diff::Diff;
use crate::model::{Grads, Param, State, grads_at};
use crate::tensor::Tensor;

/// What `self.field` means in the body of a model: generated code reads it through this trait, so that a macro need
/// not know the field's type.
#[diagnostic::on_unimplemented(
    message = "a field of type `{Self}` cannot be read as a value in a model's body",
    label = "call a method of this layer, such as `forward`",
    note = "`Param`, `State`, numbers, `bool`, `String`, and options and lists of these are values; layers are called"
)]
pub trait Read {
    /// The value.
    type Value: Diff;
    /// The field's part of the gradient struct.
    type Grads;

    /// The value; for a parameter a reference count.
    fn read(&self) -> Self::Value;

    /// Whether a cotangent is of use.
    fn wants(&self) -> bool;

    /// Adds the value's cotangent to the gradients.
    fn give(ct: <Self::Value as Diff>::Ct, grads: &mut Self::Grads);
}

impl Read for Param {
    type Value = Tensor;
    type Grads = Option<Tensor>;
    fn read(&self) -> Tensor {
        self.tensor()
    }
    fn wants(&self) -> bool {
        self.requires_grad()
    }
    fn give(ct: Option<Tensor>, grads: &mut Option<Tensor>) {
        Grads::add(grads, ct);
    }
}

impl Read for State {
    type Value = Tensor;
    type Grads = ();
    fn read(&self) -> Tensor {
        self.get()
    }
    fn wants(&self) -> bool {
        false
    }
    fn give(_: Option<Tensor>, (): &mut ()) {}
}

impl<T: Read> Read for Option<T> {
    type Value = Option<T::Value>;
    type Grads = T::Grads;
    fn read(&self) -> Self::Value {
        self.as_ref().map(T::read)
    }
    fn wants(&self) -> bool {
        self.as_ref().is_some_and(T::wants)
    }
    fn give(ct: <T::Value as Diff>::Ct, grads: &mut T::Grads) {
        T::give(ct, grads);
    }
}

impl<T: Read<Grads: Grads>> Read for Vec<T> {
    type Value = Vec<T::Value>;
    type Grads = Vec<T::Grads>;
    fn read(&self) -> Self::Value {
        self.iter().map(T::read).collect()
    }
    fn wants(&self) -> bool {
        self.iter().any(T::wants)
    }
    fn give(ct: Vec<<T::Value as Diff>::Ct>, grads: &mut Self::Grads) {
        for (i, ct) in ct.into_iter().enumerate() {
            T::give(ct, grads_at(grads, i));
        }
    }
}

/// Configuration: values without a derivative.
macro_rules! plain {
    ($($t:ty),*) => { $(
        impl Read for $t {
            type Value = $t;
            type Grads = ();
            fn read(&self) -> $t {
                self.clone()
            }
            fn wants(&self) -> bool {
                false
            }
            fn give((): (), (): &mut ()) {}
        }
    )* };
}
plain!(bool, i8, i16, i32, i64, u8, u16, u32, u64, usize, isize, f32, f64, char, String, &'static str);
