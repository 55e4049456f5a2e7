//! The value of a bare field in a model's body.

use crate::diff::Diff;
use crate::model::{Grads, Param, State, grads_at};
use crate::tensor::Tensor;

/// What `self.field` means in the body of a model: generated code reads it through this trait, so that a macro need
/// not know the field's type.
#[diagnostic::on_unimplemented(
    message = "a field of type `{Self}` cannot be read as a value in a model's body",
    label = "call a method of this layer, such as `forward`",
    note = "`Param`, `State`, numbers, `bool`, `String`, types named in `cotangent::setting!`, and options and lists of \
            these are values; layers are called"
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

/// Makes types of your own settings of models: a field of one is a value in a body, without a derivative.
///
/// ```
/// use cotangent::prelude::*;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Clone, Copy, Debug, Serialize, Deserialize)]
/// pub enum Sign { Plus, Minus }
/// cotangent::setting!(Sign);
///
/// #[model]
/// fn signed(x: Tensor![B], sign: Sign) -> Tensor![B] {
///     match sign {
///         Sign::Plus => x,
///         Sign::Minus => -x,
///     }
/// }
///
/// #[model]
/// struct Signed { #[config(Sign::Minus)] sign: Sign }
///
/// #[model]
/// impl Signed {
///     fn forward(&self, x: Tensor![B]) -> Tensor![B] { signed(x, self.sign) }
/// }
///
/// let model = Signed::init(&mut Rng::seed(0), &Device::cpu());
/// assert_eq!(model.forward(Tensor::ones([1], &Device::cpu())).to_vec(), [-1.0]);
/// ```
#[macro_export]
macro_rules! setting {
    ($($t:ty),* $(,)?) => { $(
        impl $crate::model::Read for $t {
            type Value = $t;
            type Grads = ();
            fn read(&self) -> $t {
                ::core::clone::Clone::clone(self)
            }
            fn wants(&self) -> bool {
                false
            }
            fn give((): (), (): &mut ()) {}
        }
        impl $crate::diff::Diff for $t {
            type Ct = ();
        }
    )* };
}

setting!(bool, i8, i16, i32, i64, u8, u16, u32, u64, usize, isize, f32, f64, char, String);
