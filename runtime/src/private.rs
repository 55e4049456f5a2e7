//! What generated code names. Nothing here is for people: it may change with any version.

pub use crate::cx::Cx;
pub use crate::diff::{Cotangent, Diff, Pull, Pullback, Want, Zero, boxed, pull};
pub use crate::init;
pub use crate::model::{BoxPull, Builder, Grads, Layer, LayerConfig, Leaf, LeafMut, Model, Param, Path, Read, State};
pub use crate::model::{Summary, grads_at, init as init_model};
pub use crate::ops::{AddVjp, DivVjp, MulVjp, Operand, RemVjp, SubVjp};
pub use crate::raise::{attempt, raise};
pub use crate::report::Call as ReportedCall;
pub use crate::tensor::{Bool, Float, Int, Tensor};
pub use crate::watch::{Layer as Observed, at, at_in, back, done, left};
pub use crate::{
    __config as config, __config_stub as config_stub, __keep as keep, __model as model, __model_derive as model_derive,
    __model_enum as model_enum, __model_stub as model_stub,
};
pub use crate::{__layer, Device, Error, Rng};
pub use cotangent_hal::{Activation, function, kernel, native, raw_kernel};
pub use data::*;
pub use keep::*;
pub use serde;

#[path = "private/data.rs"]
mod data;
#[path = "private/forms.rs"]
mod forms;
#[path = "private/keep.rs"]
mod keep;

/// The language of kernels, as editors see it.
#[cfg(rust_analyzer)]
#[path = "private/language.rs"]
pub mod language;

/// The shape engine, and what proofs reach it through.
pub mod shape {
    pub use crate::shape::*;
}

/// The shape engine's names as proofs have them: what stands beside them may mention types and functions of a user, whose
/// names these must not hide.
pub mod proofs {
    pub use crate::shape::{
        Bound as __Bound, Dim as __Dim, Dims as __Dims, Env as __Env, Opaque as __Opaque, Plain as __Plain,
        Scope as __Scope, Shape as __Shape, Step as __Step, bind as __bind, call as __call, explain as __explain,
        fail as __fail, identity as __identity, info_of as __info_of, inner_dims as __inner_dims, item as __item,
        join as __join, param_shape as __param_shape, rules as __rules, sig_of as __sig_of,
    };
}

/// What `#[init(..)]` may say without a path.
pub mod words {
    pub use crate::init::{constant, kaiming_uniform, normal, ones, uniform, uniform_range, xavier_uniform, zeros};
}

/// How expanded kernels run.
pub mod kernel {
    pub use crate::kernel::*;
    pub use cotangent_ir as ir;
}

use shape::{Guard, Signature};

/// Opens a call of a model: the outermost one checks the real shapes of its arguments.
#[must_use]
#[track_caller]
pub fn enter<S: Signature>(
    _: &S,
    what: &str,
    arguments: &[&str],
    model: &[usize],
    inputs: &[Option<&[usize]>],
) -> Option<Guard> {
    let guard = crate::shape::enter();
    if guard.is_some() {
        crate::raise::raised(S::SIG.check(what, arguments, model, inputs));
    }
    guard
}

/// As [`attempt`], for a call that takes a `Cx`, which is as before where the call fails.
///
/// # Errors
/// What the call raised.
pub fn attempt_with<T>(cx: &mut Cx, f: impl FnOnce(&mut Cx) -> T) -> Result<T, Error> {
    let before = cx.clone();
    let result = attempt(|| f(cx));
    if result.is_err() {
        *cx = before;
    }
    result
}

/// The value of a body with mistakes, which is never run.
pub fn never<T>() -> T {
    unreachable!("a program with mistakes does not run")
}

/// One of two pullbacks of the same form: the arm of a branch that was taken.
pub enum Either<A, B> {
    /// The first arm.
    A(A),
    /// Any later arm.
    B(B),
}

impl<G: ?Sized, A: Pullback<G>, B: Pullback<G, Ct = A::Ct, In = A::In>> Pullback<G> for Either<A, B> {
    type Ct = A::Ct;
    type In = A::In;
    fn pull(self, ct: A::Ct, grads: &mut G) -> A::In {
        match self {
            Either::A(a) => a.pull(ct, grads),
            Either::B(b) => b.pull(ct, grads),
        }
    }
}

/// The pullback of a bare field.
pub struct Given<T: ?Sized>(std::marker::PhantomData<fn(&T)>);

impl<T: Read + ?Sized> Pullback<T::Grads> for Given<T> {
    type Ct = <T::Value as Diff>::Ct;
    type In = ();
    fn pull(self, ct: Self::Ct, grads: &mut T::Grads) {
        T::give(ct, grads);
    }
}

/// The value of a bare field, and its pullback.
pub fn read_vjp<T: Read + ?Sized>(field: &T) -> (T::Value, Given<T>) {
    (field.read(), Given(std::marker::PhantomData))
}

/// The position of an element in its list, by its address. Elements without a size have no parameters, so that any
/// position serves.
pub fn index_of<T>(list: &[T], element: &T) -> usize {
    let (start, at) = (list.as_ptr() as usize, std::ptr::from_ref(element) as usize);
    at.wrapping_sub(start).checked_div(size_of::<T>()).unwrap_or(0)
}

/// Takes the cotangent of element `at`, and of those behind it.
pub fn list_take<C: Cotangent>(list: &mut Vec<C>, at: usize) -> C {
    list.truncate(at + 1);
    if list.len() > at { list.pop().unwrap_or_default() } else { C::default() }
}

/// Adds to the cotangent of element `at`.
pub fn list_put<C: Cotangent>(list: &mut Vec<C>, at: usize, ct: C) {
    if ct.is_zero() {
        return;
    }
    if list.len() <= at {
        list.resize_with(at + 1, C::default);
    }
    list[at].add(ct);
}

/// A result whose first part is a single number, the start of a backward pass.
pub trait Loss: Diff {
    /// The cotangent 1 of the number, zero of all other parts.
    fn seed(&self) -> Self::Ct;
}

impl Loss for Tensor {
    #[track_caller]
    fn seed(&self) -> Option<Tensor> {
        Some(self.ones_like())
    }
}

macro_rules! losses {
    ($($($t:ident)*;)*) => { $(
        impl<$($t: Diff),*> Loss for (Tensor, $($t,)*) {
            #[track_caller]
            fn seed(&self) -> Self::Ct {
                (self.0.seed(), $(<$t::Ct as Default>::default(),)*)
            }
        }
    )* };
}
losses! { ; A; A B; A B C; A B C D; A B C D E; }

/// Runs a backward pass from a loss: the loss, the gradients, and the cotangents of the arguments.
pub fn gradient<L: Loss, G: Default, P: Pullback<G, Ct = L::Ct>>(loss: L, pullback: P) -> (L, G, P::In) {
    let mut grads = G::default();
    let _observed = crate::watch::backward();
    let inputs = pullback.pull(loss.seed(), &mut grads);
    (loss, grads, inputs)
}
