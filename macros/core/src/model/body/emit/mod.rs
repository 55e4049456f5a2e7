//! Rust code for an impl or a function: the user's methods first, then their companions, then the shape proofs.

mod checkpoint;
mod companion;
mod extras;
mod forward;
mod proofs;
mod reverse;

use super::ast::{Function, Impl};
use super::ir::Body;
use super::lower::Context;
use crate::fallback::for_editors;
pub(super) use companion::plain;
use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::quote;
use std::collections::BTreeMap;

/// A whole impl; differentiable methods come with their lowered bodies.
pub(super) fn impl_(imp: &Impl, bodies: &[Option<Body>], context: &Context<'_>) -> TokenStream {
    let (mut methods, mut companions, mut proofs) = (vec![], vec![], vec![]);
    for (function, body) in imp.functions.iter().zip(bodies) {
        match body {
            Some(body) => {
                methods.push(plain(function, body, context));
                companions.push(companion::vjp(function, body, context));
                companions.push(groups(function, body));
                companions.push(extras::all(function, context));
                proofs.push(proofs::all(function, body, context));
            }
            None => methods.push(companion::as_written(function, context)),
        }
        if function.method {
            companions.push(proofs::signature_method(function, context));
        }
    }
    let (item, others) = (&imp.item, &imp.others);
    let (generics, self_ty) = (&item.generics, &item.self_ty);
    let (attrs, clause) = (&item.attrs, &generics.where_clause);
    let unfused: TokenStream = bodies.iter().flatten().filter_map(|body| body.unfused.clone()).collect();
    let unfused = (!unfused.is_empty()).then(|| for_editors(&quote!(impl #generics #self_ty #clause { #unfused })));
    let layers =
        imp.functions.iter().zip(bodies).filter_map(|(f, b)| b.as_ref().and_then(|_| extras::layer(f, context)));
    quote! {
        #(#attrs)*
        impl #generics #self_ty #clause { #(#others)* #(#methods)* }
        #[allow(non_snake_case, non_upper_case_globals, unused, clippy::all)]
        impl #generics #self_ty #clause { #(#companions)* }
        #(#layers)*
        #(#proofs)*
        #unfused
    }
}

/// A free function.
pub(super) fn free(function: &Function, body: &Body, context: &Context<'_>) -> TokenStream {
    let method = plain(function, body, context);
    let vjp = companion::vjp(function, body, context);
    let (extras, proofs) = (extras::all(function, context), proofs::all(function, body, context));
    let groups = groups(function, body);
    let unfused = body.unfused.as_ref().map(for_editors);
    let (vis, name, cfgs) = (&function.vis, &function.sig.ident, &function.cfgs);
    let signature = proofs::signature_impl(function, context);
    quote! {
        #method
        #[doc(hidden)]
        #[allow(non_camel_case_types)]
        #(#cfgs)*
        #vis enum #name {}
        #signature
        #(#cfgs)*
        #[allow(non_snake_case, non_upper_case_globals, unused, clippy::all)]
        impl #name { #vjp #groups }
        #extras
        #proofs
        #unfused
    }
}

/// The constants of the kernels that compute several statements.
fn groups(function: &Function, body: &Body) -> TokenStream {
    let cfgs = &function.cfgs;
    body.groups.iter().map(|group| quote!(#(#cfgs)* #group)).collect()
}

/// The generic parameters that a companion's result may mention, as `use<..>`.
fn captures<'g>(generics: impl Iterator<Item = &'g syn::Generics>) -> TokenStream {
    let names = generics.flat_map(|g| &g.params).filter_map(|p| match p {
        syn::GenericParam::Type(t) => Some(&t.ident),
        syn::GenericParam::Const(c) => Some(&c.ident),
        syn::GenericParam::Lifetime(_) => None,
    });
    quote!(use<#(#names),*>)
}

/// What messages and reports call a function: `Mlp::forward`.
fn called(function: &Function, context: &Context<'_>) -> String {
    let name = &function.sig.ident;
    match context.self_ty.filter(|_| function.method) {
        Some(ty) => format!("{}::{name}", said(&quote!(#ty))),
        None => name.to_string(),
    }
}

/// Tokens as a user reads them: `self.fc1`, not `self . fc1`.
pub(super) fn said(tokens: &TokenStream) -> String {
    tokens
        .to_string()
        .replace(" . ", ".")
        .replace(" :: ", "::")
        .replace("& ", "&")
        .replace(" [", "[")
        .replace("[ ", "[")
}

/// All identifiers in some tokens.
pub(super) fn idents(tokens: TokenStream, into: &mut BTreeMap<String, Ident>) {
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => {
                into.entry(ident.to_string()).or_insert(ident);
            }
            TokenTree::Group(group) => idents(group.stream(), into),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

/// The model's dims and the names of a function's annotations.
pub(super) fn scope(context: &Context<'_>, names: &[Ident]) -> TokenStream {
    let names: Vec<String> = names.iter().map(Ident::to_string).collect();
    let model = match context.self_ty {
        Some(ty) if !context.generic => quote!(<#ty as ::cotangent::__private::Model>::DIMS),
        _ => quote!(&[]),
    };
    quote!(::cotangent::__private::shape::Scope { model: #model, local: &[#(#names),*] })
}
