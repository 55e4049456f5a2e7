//! What the signatures of an impl or a function say, before any name in a body is resolved.

use crate::dims::TensorType;
use proc_macro2::Ident;
use syn::{Attribute, Block, ImplItem, ItemImpl, Signature, Type, Visibility};

/// A `#[model] impl`.
pub(crate) struct Impl {
    /// The impl without its items.
    pub(crate) item: ItemImpl,
    /// Its methods, in order.
    pub(crate) functions: Vec<Function>,
    /// Constants and types, emitted as they are.
    pub(crate) others: Vec<ImplItem>,
}

/// A method, or a free `#[model] fn`.
pub(crate) struct Function {
    /// The user's attributes without ours.
    pub(crate) attrs: Vec<Attribute>,
    /// The `#[cfg]`s among them, for everything that is emitted beside the method.
    pub(crate) cfgs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    /// The signature with `Tensor![..]` replaced by `Tensor`.
    pub(crate) sig: Signature,
    /// Whether it has a `self`.
    pub(crate) method: bool,
    pub(crate) params: Vec<Param>,
    pub(crate) output: Output,
    pub(crate) block: Block,
    /// Whether companions are derived; otherwise the body is emitted as written.
    pub(crate) differentiable: bool,
    /// Whether operations may share a kernel.
    pub(crate) fuse: bool,
    /// Whether the signature has a mistake, so that no companion can be made of it.
    pub(crate) broken: bool,
}

/// A parameter after `self`.
pub(crate) struct Param {
    pub(crate) ident: Ident,
    /// The type with `Tensor![..]` replaced.
    pub(crate) ty: Type,
    pub(crate) kind: Kind,
    pub(crate) shape: Option<TensorType>,
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Float tensors: values with a derivative.
    Active,
    /// An integer or truth-value tensor: cloned at each use, without a derivative.
    Tensor,
    /// The `&mut Cx`.
    Context,
    /// Anything else: emitted as written.
    Plain,
}

/// What a function returns.
pub(crate) struct Output {
    /// The type with `Tensor![..]` replaced.
    pub(crate) ty: Type,
    /// The parts of a tuple, or the one value.
    pub(crate) parts: Vec<Part>,
    /// Whether `parts` are those of a tuple.
    pub(crate) tuple: bool,
}

/// One part of a result.
pub(crate) struct Part {
    pub(crate) kind: Kind,
    pub(crate) shape: Option<TensorType>,
}

impl Function {
    /// Takes the body away from a function with a broken signature, and its companions with it.
    pub(crate) fn silence(&mut self) {
        if self.broken {
            self.differentiable = false;
            self.block = syn::parse_quote!({ ::cotangent::__private::never() });
            self.attrs.push(syn::parse_quote!(#[allow(unused)]));
        }
    }
}

impl Output {
    /// Whether a float tensor comes out.
    pub(crate) fn active(&self) -> bool {
        self.parts.iter().any(|p| p.kind == Kind::Active)
    }

    /// Whether the first part is `Tensor![]`, so that its gradient makes sense.
    pub(crate) fn scalar(&self) -> bool {
        let first = self.parts.first();
        first.is_some_and(|p| {
            p.kind == Kind::Active && p.shape.as_ref().is_some_and(|s| s.rest.is_none() && s.dims.is_empty())
        })
    }
}
