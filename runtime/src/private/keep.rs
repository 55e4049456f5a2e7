//! What a checkpoint keeps of the variables that it uses, and how it runs again.
//!
//! A macro does not know the types of a user's variables, and a pullback borrows nothing. So `(&Keep::of(&x)).keep()` asks
//! rustc: of a reference it keeps what is behind, owned, of a [`Cx`] its state, of anything else a clone. `lend` gives
//! back a value of the variable's own type.

use crate::cx::Cx;
use std::borrow::Borrow;

/// A variable of which something is to be kept.
pub struct Keep<'a, T>(&'a T);

/// Variables of which something can be kept. The bound of [`Keep::of`] alone tells of one that is not.
#[diagnostic::on_unimplemented(
    message = "a checkpoint cannot keep a `{Self}`, which is not `Clone`",
    note = "a checkpoint runs again on clones of what it uses; derive `Clone`, or use the variable outside of it"
)]
pub trait Lasting {}
impl<T: Clone> Lasting for T {}
impl Lasting for &mut Cx {}

impl<'a, T> Keep<'a, T> {
    /// This variable.
    pub fn of(variable: &'a T) -> Self
    where
        T: Lasting,
    {
        Keep(variable)
    }
}

/// What is kept of a value.
pub struct KeptValue<T>(Option<T>);

/// What is kept of a reference.
pub struct KeptReference<T: ToOwned + ?Sized>(T::Owned);

/// What is kept of a `&mut Cx`.
pub struct KeptCx(Cx);

impl<T: ToOwned + ?Sized> Keep<'_, &T> {
    /// What is behind it.
    pub fn keep(&self) -> KeptReference<T> {
        KeptReference((*self.0).to_owned())
    }
}

/// `keep` of all that is no shared reference: rustc takes a method of the type itself before one of a trait.
pub trait KeepValue {
    /// What is kept.
    type Kept;
    /// A clone, or the state of a context.
    fn keep(&self) -> Self::Kept;
}

impl<T: Clone> KeepValue for Keep<'_, T> {
    type Kept = KeptValue<T>;
    fn keep(&self) -> KeptValue<T> {
        KeptValue(Some(self.0.clone()))
    }
}

impl KeepValue for Keep<'_, &mut Cx> {
    type Kept = KeptCx;
    fn keep(&self) -> KeptCx {
        KeptCx(self.0.inside())
    }
}

/// `keep` of what cannot be kept, so that [`Keep::of`] has the only mistake.
pub trait KeepNothing<T> {
    /// Never run.
    fn keep(&self) -> KeptValue<T>;
}

impl<T> KeepNothing<T> for &Keep<'_, T> {
    fn keep(&self) -> KeptValue<T> {
        KeptValue(None)
    }
}

impl<T> KeptValue<T> {
    /// The value, once.
    pub fn lend(&mut self) -> T {
        self.0.take().expect("a checkpoint runs again once")
    }
}

impl<T: ToOwned + ?Sized> KeptReference<T> {
    /// A reference as the variable was.
    pub fn lend(&self) -> &T {
        self.0.borrow()
    }
}

impl KeptCx {
    /// The context as it was.
    pub fn lend(&mut self) -> &mut Cx {
        &mut self.0
    }
}

/// A tuple of what is kept of each variable.
#[doc(hidden)]
#[macro_export]
macro_rules! __keep {
    ($($variable:expr),*) => {{
        #[allow(unused_imports)]
        use $crate::__private::{KeepNothing as _, KeepValue as _};
        ($((&$crate::__private::Keep::of($variable)).keep(),)*)
    }};
}

/// The pullback of statements that run again on what was kept, if anything was. Shapes are not checked again.
pub fn again<K, P>(kept: Option<K>, statements: impl FnOnce(&mut K) -> P) -> Option<P> {
    let _inside = crate::shape::enter();
    kept.map(|mut kept| statements(&mut kept))
}
