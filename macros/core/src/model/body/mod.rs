//! `#[model]` on an inherent impl or a free function: the derivative of its bodies.

mod ast;
mod check;
mod emit;
mod fuse;
mod grad;
mod ir;
mod live;
mod lower;
mod parse;
mod unpack;

use crate::diags::Diags;
use crate::{dump, fallback};
use lower::Context;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use std::collections::BTreeSet;
use syn::{ItemFn, ItemImpl};

/// Expands `#[model] impl X { .. }`.
pub(crate) fn expand_impl(args: TokenStream, item: ItemImpl) -> TokenStream {
    let name = emit::said(&item.self_ty.to_token_stream());
    match try_impl(args, item) {
        Ok(tokens) => {
            let watch = dump::dump(&name, &tokens);
            quote!(#tokens #watch)
        }
        Err(errors) => errors,
    }
}

/// Expands `#[model] fn f(..)`.
pub(crate) fn expand_fn(args: TokenStream, item: ItemFn) -> TokenStream {
    let name = item.sig.ident.to_string();
    match try_fn(args, item) {
        Ok(tokens) => {
            let watch = dump::dump(&name, &tokens);
            quote!(#tokens #watch)
        }
        Err(errors) => errors,
    }
}

fn try_impl(args: TokenStream, item: ItemImpl) -> Result<TokenStream, TokenStream> {
    let original = item.to_token_stream();
    let mut diags = Diags::default();
    check::arguments(&args, &mut diags);
    let mut ast = parse::impl_(item, &mut diags);
    let plain_methods: BTreeSet<String> =
        ast.functions.iter().filter(|f| !f.differentiable).map(|f| f.sig.ident.to_string()).collect();
    let (generics, self_ty) = (ast.item.generics.clone(), ast.item.self_ty.clone());
    let context = Context {
        self_ty: Some(&self_ty),
        generic: generics.params.iter().any(|p| !matches!(p, syn::GenericParam::Lifetime(_))),
        generics: Some(&generics),
        plain_methods: &plain_methods,
    };
    let mut bodies = vec![];
    for function in &ast.functions {
        bodies.push(function.differentiable.then(|| lower::function(function, &context, &mut diags)));
    }
    if let Err(errors) = diags.gate() {
        ast.functions.iter_mut().for_each(ast::Function::silence);
        let stubs: Vec<_> = ast.functions.iter().map(|f| f.differentiable.then(|| ir::Body::never(f))).collect();
        let trait_impl = ast.item.trait_.is_some();
        return if trait_impl {
            Err(fallback::with_errors(&original, errors))
        } else {
            Err(stubbed(&original, &emit::impl_(&ast, &stubs, &context), errors))
        };
    }
    for (function, body) in ast.functions.iter().zip(&mut bodies) {
        body.iter_mut().for_each(|body| optimise(function, body, &context));
    }
    Ok(emit::impl_(&ast, &bodies, &context))
}

/// Groups operations, finds where variables are used for the last time, and lets products end in functions. Where there
/// are such, the method without them is kept for editors.
fn optimise(function: &ast::Function, body: &mut ir::Body, context: &Context<'_>) {
    live::mark(body);
    if function.fuse {
        let plain = emit::plain(function, body, context);
        fuse::body(function, body);
        if !body.groups.is_empty() {
            live::mark(body);
        }
        if fuse::ending::body(body) || !body.groups.is_empty() {
            body.unfused = Some(plain);
        }
    }
}

/// Errors, with what keeps them alone: callers find every companion, and bodies that are not sound are not compiled. An
/// editor gets the item as it stands as well, so that it completes in the bodies.
fn stubbed(original: &TokenStream, stubs: &TokenStream, errors: TokenStream) -> TokenStream {
    let item = fallback::for_editors(&fallback::with_errors(original, TokenStream::new()));
    quote!(#errors #stubs #item)
}

fn try_fn(args: TokenStream, item: ItemFn) -> Result<TokenStream, TokenStream> {
    let mut diags = Diags::default();
    check::arguments(&args, &mut diags);
    let original = item.to_token_stream();
    let function = parse::free(item, &mut diags);
    let plain_methods = BTreeSet::new();
    let context = Context { self_ty: None, generic: false, generics: None, plain_methods: &plain_methods };
    let mut body = lower::function(&function, &context, &mut diags);
    if let Err(errors) = diags.gate() {
        return Err(stubbed(&original, &emit::free(&function, &ir::Body::never(&function), &context), errors));
    }
    optimise(&function, &mut body, &context);
    Ok(emit::free(&function, &body, &context))
}
