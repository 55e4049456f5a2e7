//! The method as the user calls it, and its companion `m__vjp`.

use super::{captures, forward::Forward, proofs};
use crate::hygiene;
use crate::model::body::ast::{Function, Kind, Param};
use crate::model::body::grad::{self, Values};
use crate::model::body::ir::{Body, Operand, Value};
use crate::model::body::lower::Context;
use proc_macro2::TokenStream;
use quote::quote;
use std::collections::BTreeMap;

/// A method without companions: its body as it is, apart from dims as values.
pub(super) fn as_written(function: &Function, context: &Context<'_>) -> TokenStream {
    let (attrs, vis, sig) = (&function.attrs, &function.vis, &function.sig);
    let body = crate::model::body::lower::written(function, context);
    quote!(#(#attrs)* #vis #sig #body)
}

/// The method that the user calls: no residuals, and every buffer freed at its last use.
pub(in crate::model::body) fn plain(function: &Function, body: &Body, context: &Context<'_>) -> TokenStream {
    let (attrs, vis, sig) = (&function.attrs, &function.vis, &function.sig);
    let needed = Values::new();
    let mut forward = Forward { body, needed: &needed, grads: quote!(()), flags: BTreeMap::new() };
    let prologue = frame(function, body, context);
    let stmts = forward.region(&body.region);
    let result = body.region.result.as_ref().map(|r| forward.operand(r));
    let silent = (!body.sound).then(|| quote!(#[allow(unused)]));
    quote! {
        #(#attrs)*
        #silent
        #[allow(non_snake_case, unused_mut, unused_parens, clippy::all)]
        #vis #sig { #prologue #stmts #result }
    }
}

/// The companion: the same statements with residuals, and the pullback.
pub(super) fn vjp(function: &Function, body: &Body, context: &Context<'_>) -> TokenStream {
    let needed = grad::needed(body);
    let (vis, cfgs, sig) = (&function.vis, &function.cfgs, &function.sig);
    let (name, receiver) = match function.method {
        true => (hygiene::vjp(&sig.ident), sig.receiver().map(|r| &r.self_token).map(|this| quote!(&#this,))),
        false => (proc_macro2::Ident::new("vjp", sig.ident.span()), None),
    };
    let flags = function.params.iter().zip(&body.params).enumerate().filter_map(|(at, (_, value))| {
        let bit = proc_macro2::Literal::usize_unsuffixed(at + 1);
        value.map(|v| (v, quote!(__want.has(#bit))))
    });
    let grads = match context.self_ty {
        Some(ty) => quote!(<#ty as ::cotangent::__private::Model>::Grads),
        None => quote!(()),
    };
    let mut forward = Forward { body, needed: &needed, grads: grads.clone(), flags: flags.collect() };
    let prologue = frame(function, body, context);
    let text = super::called(function, context);
    let stmts = forward.region(&body.region);
    let result = body.region.result.as_ref().map(|r| forward.operand(r));
    let out = match &body.region.result {
        Some(Operand::Active { value, .. }) => Some(*value),
        Some(Operand::Plain(_)) | None => None,
    };
    let pullback = pullback(function, body, &needed, out, &grads);
    let params = function.params.iter().map(|p| {
        let (ident, ty) = (&p.ident, &p.ty);
        let mutable = is_mutable(function, p).then(|| quote!(mut));
        quote!(#mutable #ident: #ty)
    });
    let ins = function.params.iter().map(|p| match p.kind {
        Kind::Active => ct(&p.ty),
        Kind::Tensor | Kind::Context | Kind::Plain => quote!(()),
    });
    let (ty, ct_out, captures) =
        (&function.output.ty, ct(&function.output.ty), captures(context.generics.into_iter().chain([&sig.generics])));
    let (generics, clause) = (&sig.generics, &sig.generics.where_clause);
    quote! {
        #(#cfgs)*
        #[doc(hidden)]
        #vis fn #name #generics(#receiver #(#params,)* __want: ::cotangent::__private::Want)
            -> (#ty, impl ::cotangent::__private::Pullback<#grads, Ct = #ct_out, In = (#(#ins,)*)> + #captures) #clause
        {
            #prologue
            let __report = ::cotangent::__private::ReportedCall::open(#text);
            #stmts
            let __out = #result;
            (__out, #pullback)
        }
    }
}

/// The cotangent type of a value's type.
fn ct(ty: &syn::Type) -> TokenStream {
    quote!(<#ty as ::cotangent::__private::Diff>::Ct)
}

fn pullback(function: &Function, body: &Body, needed: &Values, out: Option<Value>, grads: &TokenStream) -> TokenStream {
    let ct_out = ct(&function.output.ty);
    let name = hygiene::local("o", 0);
    let code = super::reverse::function(needed, &body.region, out, &name, &body.params);
    quote! {
        ::cotangent::__private::pull(move |#name: #ct_out, g: &mut #grads| {
            if ::cotangent::__private::Cotangent::is_zero(&#name) {
                return ::core::default::Default::default();
            }
            #code
        })
    }
}

fn is_mutable(function: &Function, param: &Param) -> bool {
    function.sig.inputs.iter().any(|i| match i {
        syn::FnArg::Typed(t) => match &*t.pat {
            syn::Pat::Ident(p) => p.ident == param.ident && p.mutability.is_some(),
            _ => false,
        },
        syn::FnArg::Receiver(_) => false,
    })
}

/// What stands before the statements: the check of the arguments' shapes, the step of the `Cx`, dims as
/// values.
fn frame(function: &Function, body: &Body, context: &Context<'_>) -> TokenStream {
    let check = proofs::entry(function, context);
    let cx = function.params.iter().find(|p| p.kind == Kind::Context).map(|p| &p.ident);
    let step = cx.map(|cx| quote!(let __step = #cx.scope();));
    let dims = body.dims.iter().map(|(name, param, axis)| {
        let axis = proc_macro2::Literal::i64_unsuffixed(*axis);
        quote!(#[allow(unused_variables)] let #name = #param.size(#axis);)
    });
    quote!(#check #step #(#dims)*)
}
