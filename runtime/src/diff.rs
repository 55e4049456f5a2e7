//! The vocabulary of reverse mode: cotangents, pullbacks, and which cotangents are wanted.
//!
//! A differentiable function `y = f(x)` has a companion that returns `(y, pullback)`. The pullback maps a cotangent
//! `ct_y` of the result to `ct_x = ct_y · ∂f/∂x`, one for each argument, and adds the parameters' cotangents to the
//! mirrored gradient struct. There is no tape: a pullback is a closure over what it needs.

use crate::ops::add_ct;
use crate::tensor::{Kind, Tensor};
use std::any::Any;
use std::marker::PhantomData;

/// A value that may carry a derivative.
pub trait Diff {
    /// Its cotangent, zero at first. `()` for values without a derivative: integers, flags, configuration.
    type Ct: Cotangent;

    /// Shows the float tensors that it is or holds, to what observes a run.
    #[doc(hidden)]
    fn tensors(&self, _: &mut dyn FnMut(&Tensor)) {}
}

/// A cotangent: an element of a vector space whose zero costs nothing to make.
pub trait Cotangent: Default {
    /// `self += other`.
    fn add(&mut self, other: Self);
    /// Whether it is the zero that [`Default`] gives, so that work on it can be skipped.
    fn is_zero(&self) -> bool;
}

/// What a differentiated call leaves behind: the map from the result's cotangent to those of its arguments.
///
/// `G` is the gradient struct of the receiver: `()` for tensor operations.
pub trait Pullback<G: ?Sized> {
    /// The result's cotangent.
    type Ct;
    /// A tuple with the cotangent of each argument.
    type In;
    /// Adds the parameters' part to `grads` and returns the arguments' part.
    fn pull(self, ct: Self::Ct, grads: &mut G) -> Self::In;
}

/// A pullback made of a closure; see [`pull`].
pub struct Pull<F, Ct, In>(F, PhantomData<fn(Ct) -> In>);

/// Makes a pullback of a closure.
pub fn pull<G: ?Sized, Ct, In, F: FnOnce(Ct, &mut G) -> In>(f: F) -> Pull<F, Ct, In> {
    Pull(f, PhantomData)
}

impl<G: ?Sized, Ct, In, F: FnOnce(Ct, &mut G) -> In> Pullback<G> for Pull<F, Ct, In> {
    type Ct = Ct;
    type In = In;
    fn pull(self, ct: Ct, grads: &mut G) -> In {
        (self.0)(ct, grads)
    }
}

/// A pullback in a box: its type says nothing of what it holds.
pub struct Boxed<G: ?Sized, Ct, In>(Box<Held<G, Ct, In>>);

type Held<G, Ct, In> = dyn FnOnce(Ct, &mut G) -> In;

/// A result with its pullback boxed: what `#[boxed]` makes of a call.
pub fn boxed<T, G: ?Sized, P: Pullback<G> + 'static>((out, pullback): (T, P)) -> (T, Boxed<G, P::Ct, P::In>) {
    (out, Boxed(Box::new(move |ct, grads| pullback.pull(ct, grads))))
}

impl<G: ?Sized, Ct, In> Pullback<G> for Boxed<G, Ct, In> {
    type Ct = Ct;
    type In = In;
    fn pull(self, ct: Ct, grads: &mut G) -> In {
        (self.0)(ct, grads)
    }
}

/// The zero cotangent of a value whose type only rustc knows.
pub struct Zero<T: Diff>(PhantomData<fn() -> T>);

impl<T: Diff> Zero<T> {
    /// That of values like this one.
    pub fn of(_: &T) -> Zero<T> {
        Zero(PhantomData)
    }

    /// The zero.
    pub fn zero(self) -> T::Ct {
        T::Ct::default()
    }
}

/// Which cotangents a caller wants: bit 0 for the receiver (the parameters of a model, the tensor of a tensor
/// method), bit `i` for the `i`-th argument. A companion saves and computes nothing for the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Want(u32);

impl Want {
    /// Nothing: the call will not be differentiated.
    pub const NONE: Want = Want(0);
    /// Everything.
    pub const ALL: Want = Want(u32::MAX);
    /// The receiver alone.
    pub const SELF: Want = Want(1);

    /// The set whose bit `i` is `bits[i]`.
    pub const fn of(bits: &[bool]) -> Want {
        let (mut set, mut i) = (0, 0);
        while i < bits.len() && i < 32 {
            set |= (bits[i] as u32) << i;
            i += 1;
        }
        Want(set)
    }

    /// The same set for a function that takes the receiver as its first argument.
    pub(crate) const fn of_function(self) -> Want {
        Want(self.0 << 1)
    }

    /// Whether bit `i` is set. Arguments past the 31st are always wanted.
    pub const fn has(self, i: usize) -> bool {
        i >= 32 || self.0 >> i & 1 == 1
    }

    /// Whether anything is wanted.
    pub const fn any(self) -> bool {
        self.0 != 0
    }
}

impl<K: Kind> Diff for Tensor<K> {
    type Ct = K::Ct;
    fn tensors(&self, f: &mut dyn FnMut(&Tensor)) {
        (self as &dyn Any).downcast_ref().into_iter().for_each(f);
    }
}

impl Cotangent for Option<Tensor> {
    fn add(&mut self, other: Self) {
        *self = match (self.take(), other) {
            (Some(a), Some(b)) => Some(add_ct(a, b)),
            (a, b) => a.or(b),
        };
    }
    fn is_zero(&self) -> bool {
        self.is_none()
    }
}

impl Cotangent for () {
    fn add(&mut self, (): ()) {}
    fn is_zero(&self) -> bool {
        true
    }
}

impl Diff for () {
    type Ct = ();
}
impl Diff for str {
    type Ct = ();
}
impl Diff for crate::random::Key {
    type Ct = ();
}
impl<T: Diff + ?Sized> Diff for &T {
    type Ct = ();
}
impl<T: Diff + ?Sized> Diff for &mut T {
    type Ct = ();
}
impl<T: Diff> Diff for Vec<T> {
    type Ct = Vec<T::Ct>;
    fn tensors(&self, f: &mut dyn FnMut(&Tensor)) {
        self.iter().for_each(|part| part.tensors(f));
    }
}
impl<T: Diff> Diff for Option<T> {
    type Ct = T::Ct;
    fn tensors(&self, f: &mut dyn FnMut(&Tensor)) {
        self.iter().for_each(|part| part.tensors(f));
    }
}
impl<T: Diff, const N: usize> Diff for [T; N] {
    type Ct = Vec<T::Ct>;
    fn tensors(&self, f: &mut dyn FnMut(&Tensor)) {
        self.iter().for_each(|part| part.tensors(f));
    }
}

impl<C: Cotangent> Cotangent for Vec<C> {
    fn add(&mut self, other: Self) {
        if self.len() < other.len() {
            self.resize_with(other.len(), C::default);
        }
        for (a, b) in self.iter_mut().zip(other) {
            a.add(b);
        }
    }
    fn is_zero(&self) -> bool {
        self.iter().all(C::is_zero)
    }
}

macro_rules! tuples {
    ($($($t:ident $i:tt)*;)*) => { $(
        impl<$($t: Diff),*> Diff for ($($t,)*) {
            type Ct = ($($t::Ct,)*);
            fn tensors(&self, f: &mut dyn FnMut(&Tensor)) {
                $(self.$i.tensors(f);)*
            }
        }
        impl<$($t: Cotangent),*> Cotangent for ($($t,)*) {
            fn add(&mut self, other: Self) {
                $(self.$i.add(other.$i);)*
            }
            fn is_zero(&self) -> bool {
                true $(&& self.$i.is_zero())*
            }
        }
    )* };
}
tuples! {
    A 0;
    A 0 B 1;
    A 0 B 1 C 2;
    A 0 B 1 C 2 D 3;
    A 0 B 1 C 2 D 3 E 4;
    A 0 B 1 C 2 D 3 E 4 F 5;
}
