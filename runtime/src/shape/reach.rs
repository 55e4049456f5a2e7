//! From a model's value to the declarations behind it, inside `const` items.
//!
//! Generated proofs know a field by name, not by type. `info_of(|m: &Mlp| &m.fc1)` lets rustc infer the type: the
//! closure is never called, so it needs no model.

use super::dim::Dim;
use super::fields::{DimDefault, Dims, FieldDims, field_dims};
use super::shape::{Scope, Shape};
use super::sig::{Sig, Signature};
use crate::model::Model;

/// What a model type declares.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// The names of its dims.
    pub dims: &'static [&'static str],
    /// Their defaults.
    pub defaults: &'static [Option<DimDefault>],
    /// The dims that its fields are given.
    pub fields: &'static [FieldDims],
}

/// The declarations of the model that a closure reaches.
pub const fn info_of<M, T: Model>(_: fn(&M) -> &T) -> Info {
    Info { dims: T::DIMS, defaults: T::DEFAULTS, fields: T::FIELDS }
}

/// The dims that a field is given, in terms of the dims of the outermost model.
pub const fn inner_dims(owner: &Info, field: &str, inner: &Info, outer: &Dims) -> Dims {
    field_dims(owner.fields, field, inner.dims, inner.defaults, outer)
}

/// The declared shape of a parameter or state; a scalar where the field is neither, that is, configuration.
pub const fn param_shape(owner: &Info, field: &str, outer: &Dims) -> Shape {
    let mut i = 0;
    while i < owner.fields.len() {
        if super::shape::same_text(owner.fields[i].name, field) {
            let args = owner.fields[i].args;
            let (mut dims, mut k) = ([Dim::UNKNOWN; super::shape::AXES], 0);
            while k < args.len() && k < dims.len() {
                dims[k] = args[k].1.subst(outer.as_slice());
                k += 1;
            }
            return Shape::of(dims.split_at(k).0);
        }
        i += 1;
    }
    Shape::SCALAR
}

/// What can be stepped into: lists, options and boxes.
pub trait Items {
    /// What is inside.
    type Item: ?Sized;
}

impl<T> Items for Vec<T> {
    type Item = T;
}
impl<T> Items for Option<T> {
    type Item = T;
}
impl<T, const N: usize> Items for [T; N] {
    type Item = T;
}

/// An element, for closures that are never called.
pub fn item<L: Items>(_: &L) -> &L::Item {
    unreachable!("proofs are never run")
}

/// The signature of what declares no shapes: generic models, and layers whose type is known at run time.
#[derive(Clone, Copy, Debug)]
pub struct Opaque;

impl Signature for Opaque {
    const SIG: Sig = Sig { name: "", scope: Scope { model: &[], local: &[] }, inputs: &[], outputs: &[] };
}

/// A companion type passed by value.
impl<S: Signature> Signature for std::marker::PhantomData<S> {
    const SIG: Sig = S::SIG;
}

/// The run-time half of a typed binding: raises where `got` is not as declared.
#[track_caller]
pub fn expect((declared, scope): (&Shape, &Scope), known: &[(&str, usize)], got: &[usize], what: &str) {
    crate::raise::raised(super::check::verify(declared, scope, known, got, what));
}
