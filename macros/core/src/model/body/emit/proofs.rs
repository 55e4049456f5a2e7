//! Declared shapes as constants: for callers, for the check on entry, and for the proofs of the body.

use super::{captures, scope};
use crate::caret;
use crate::dims::{DimExpr, TensorType};
use crate::hygiene;
use crate::model::body::ast::{Function, Param};
use crate::model::body::ir::Body;
use crate::model::body::lower::Context;
use proc_macro2::{Ident, TokenStream};
use quote::quote;

/// `forward__sig`: the declared shapes of a method, which a caller's proofs reach through the value.
pub(super) fn signature_method(function: &Function, context: &Context<'_>) -> TokenStream {
    let (vis, cfgs) = (&function.vis, &function.cfgs);
    let name = hygiene::sig(&function.sig.ident);
    let captures = captures(context.generics.into_iter());
    let body = match context.generic {
        true => quote!(::cotangent::__private::shape::Opaque),
        false => {
            let sig = sig(function, context);
            quote! {
                struct __Sig;
                impl ::cotangent::__private::shape::Signature for __Sig {
                    const SIG: ::cotangent::__private::shape::Sig = #sig;
                }
                __Sig
            }
        }
    };
    quote! {
        #(#cfgs)*
        #[doc(hidden)]
        #vis fn #name(&self) -> impl ::cotangent::__private::shape::Signature + #captures { #body }
    }
}

/// `impl Signature` for the companion type of a free function.
pub(super) fn signature_impl(function: &Function, context: &Context<'_>) -> TokenStream {
    let (name, cfgs, sig) = (&function.sig.ident, &function.cfgs, sig(function, context));
    quote! {
        #(#cfgs)*
        impl ::cotangent::__private::shape::Signature for #name {
            const SIG: ::cotangent::__private::shape::Sig = #sig;
        }
        #(#cfgs)*
        impl #name {
            #[doc(hidden)]
            pub const SIG: ::cotangent::__private::shape::Sig = <#name as ::cotangent::__private::shape::Signature>::SIG;
        }
    }
}

fn sig(function: &Function, context: &Context<'_>) -> TokenStream {
    let names = names(function);
    let scope = scope(context, &names);
    let inputs = function.params.iter().map(|p| shape(p.shape.as_ref()));
    let outputs = function.output.parts.iter().map(|p| shape(p.shape.as_ref()));
    let name = match context.self_ty {
        Some(ty) if !context.generic => quote!(<#ty as ::cotangent::__private::Model>::NAME),
        _ => {
            let name = function.sig.ident.to_string();
            quote!(#name)
        }
    };
    quote! {{
        const SCOPE: ::cotangent::__private::shape::Scope = #scope;
        ::cotangent::__private::shape::Sig { name: #name, scope: SCOPE, inputs: &[#(#inputs),*], outputs: &[#(#outputs),*] }
    }}
}

/// The names of all annotations, in order of appearance.
fn names(function: &Function) -> Vec<Ident> {
    let annotated = function.params.iter().map(|p| &p.shape).chain(function.output.parts.iter().map(|p| &p.shape));
    let mut names: Vec<Ident> = vec![];
    for shape in annotated.flatten() {
        for name in shape.names() {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
    }
    names
}

fn shape(shape: Option<&TensorType>) -> TokenStream {
    match shape {
        Some(shape) => shape.to_const(&quote!(SCOPE)),
        None => quote!(::cotangent::__private::shape::Shape::UNKNOWN),
    }
}

/// The check of the arguments' real shapes, made by the outermost call alone.
pub(super) fn entry(function: &Function, context: &Context<'_>) -> TokenStream {
    if context.generic || function.params.iter().all(|p| p.shape.is_none()) {
        return quote!();
    }
    let name = &function.sig.ident;
    let said = super::called(function, context);
    let (signature, model) = match (function.method, context.self_ty) {
        (true, Some(ty)) => {
            let (sig, path) = (hygiene::sig(name), hygiene::macro_path(ty));
            let model = path.map_or_else(|| quote!(&[]), |path| quote!(&#path!(@dims self)));
            (quote!(self.#sig()), model)
        }
        _ => (quote!(::core::marker::PhantomData::<#name>), quote!(&[])),
    };
    let arguments = function.params.iter().map(|p| p.ident.to_string());
    let shapes = function.params.iter().map(|Param { ident, shape, .. }| match shape {
        Some(_) => quote!(::core::option::Option::Some(#ident.shape())),
        None => quote!(::core::option::Option::None),
    });
    quote::quote_spanned! {name.span()=>
        let __scope = ::cotangent::__private::enter(&#signature, #said, &[#(#arguments),*], #model, &[#(#shapes),*]);
    }
}

/// The proofs of one body, as constants outside the impl.
pub(super) fn all(function: &Function, body: &Body, context: &Context<'_>) -> TokenStream {
    if context.generic {
        return quote!();
    }
    let scope = scope(context, &body.proofs.names);
    let defaults = context.self_ty.map(|ty| quote!(.with_defaults(<#ty as ::cotangent::__private::Model>::DEFAULTS)));
    let (items, cfgs) = (&body.proofs.items, &function.cfgs);
    let lonely = lonely(function);
    let methods = &body.proofs.methods;
    // A method that no layer has is reported where it is called; here it counts as one without declared shapes.
    let missing = (!methods.is_empty()).then(|| {
        quote! {
            #[allow(non_snake_case)]
            trait __Missing { #(fn #methods(&self) -> __Opaque { __Opaque })* }
            impl<T: ?Sized> __Missing for T {}
        }
    });
    let inputs = function.params.iter().filter_map(|p| p.shape.as_ref()).map(|s| s.to_const(&quote!(SCOPE)));
    quote! {
        #(#cfgs)*
        const _: () = {
            use ::cotangent::__private::proofs::*;
            const SCOPE: __Scope = #scope;
            const ENV: __Env = __Env::new(&SCOPE)#defaults.with_inputs(&[#(#inputs),*]);
            #missing
            #(#lonely)*
            #(#items)*
        };
    }
}

/// For each name that parameters mention only inside a product: a proof that the model has it.
fn lonely(function: &Function) -> Vec<TokenStream> {
    let dims: Vec<&DimExpr> = function.params.iter().filter_map(|p| p.shape.as_ref()).flat_map(|s| &s.dims).collect();
    let bare: Vec<&Ident> = dims
        .iter()
        .filter_map(|d| match d {
            DimExpr::Name(name) => Some(name),
            _ => None,
        })
        .collect();
    let mut proofs = vec![];
    let mut seen: Vec<&Ident> = vec![];
    for dim in &dims {
        for name in dim.names() {
            if !bare.contains(&name) && !seen.contains(&name) {
                seen.push(name);
                let (text, within) = (name.to_string(), dim.written());
                let message =
                    format!("`{text}` appears only in `{within}`, so its value is not known; add it to `dims(..)`");
                let failure = caret::call_at(name, quote!(__fail), quote!(#message));
                proofs.push(quote!(const _: () = if !SCOPE.is_model(#text) { #failure };));
            }
        }
    }
    proofs
}
