//! The names of everything that expansions add. No other file spells one.
//!
//! Names that users see (`MlpGrads`, `MlpConfig`, `loss_grad`) extend theirs; all others start with two underscores.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use syn::{Path, PathArguments, Type, TypePath};

/// A variable of emitted code: `__t3`.
pub(crate) fn local(prefix: &str, number: u32) -> Ident {
    format_ident!("__{prefix}{number}", span = Span::call_site())
}

/// The copy of `self`, or of one of its fields, on which a checkpoint runs again: `__self`, `__self_fc1`.
pub(crate) fn own(field: Option<&Ident>) -> Ident {
    match field {
        Some(field) => format_ident!("__self_{field}", span = Span::call_site()),
        None => format_ident!("__self", span = Span::call_site()),
    }
}

/// Whether a name is one that [`local`] makes, rather than the user's.
pub(crate) fn is_local(ident: &Ident) -> bool {
    ident.to_string().starts_with("__")
}

/// The struct of a model's gradients: `MlpGrads`.
pub(crate) fn grads(model: &Ident) -> Ident {
    format_ident!("{model}Grads")
}

/// The struct of a model's configuration: `MlpConfig`.
pub(crate) fn config(model: &Ident) -> Ident {
    format_ident!("{model}Config")
}

/// The field of a model that holds its configuration.
pub(crate) fn config_field() -> Ident {
    Ident::new("__config", Span::call_site())
}

/// The builder in `Model::build`.
pub(crate) fn builder() -> Ident {
    Ident::new("__at", Span::call_site())
}

/// A constant beside the impl of `Model`: `__DIMS`.
pub(crate) fn constant(name: &str) -> Ident {
    format_ident!("__{name}", span = Span::call_site())
}

/// The `macro_rules!` of a model: dims as values. It is imported under the model's own name.
pub(crate) fn model_macro(model: &Ident) -> Ident {
    format_ident!("__model_{model}", span = Span::call_site())
}

/// The companion of a method: `forward__vjp`.
pub(crate) fn vjp(method: &Ident) -> Ident {
    format_ident!("{method}__vjp", span = method.span())
}

/// The constant of a kernel that computes several statements of a method: `forward__fused0`.
pub(crate) fn fused(method: &Ident, number: usize) -> Ident {
    format_ident!("{method}__fused{number}", span = Span::call_site())
}

/// The method that gives a method's declared shapes: `forward__sig`.
pub(crate) fn sig(method: &Ident) -> Ident {
    format_ident!("{method}__sig", span = method.span())
}

/// The value of a model's dim in one of its methods; the name itself where the model has no such dim.
pub(crate) fn dim(model: &Type, name: &Ident) -> Option<TokenStream> {
    let (path, this) = (macro_path(model)?, Ident::new("self", name.span()));
    Some(quote!(#path!(@dim #name #this)))
}

/// The path of a model's `macro_rules!`, which is that of its type.
pub(crate) fn macro_path(model: &Type) -> Option<Path> {
    let Type::Path(TypePath { path, .. }) = model else { return None };
    let mut path = path.clone();
    path.segments.iter_mut().for_each(|s| s.arguments = PathArguments::None);
    Some(path)
}
