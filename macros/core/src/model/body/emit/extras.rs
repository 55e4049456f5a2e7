//! What a method brings besides its companion: gradients, the form that returns errors, `impl Layer`.

use crate::model::body::ast::{Function, Kind};
use crate::model::body::lower::Context;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

/// `m_grad`, `m_grad_inputs` and `try_m`.
pub(super) fn all(function: &Function, context: &Context<'_>) -> TokenStream {
    let tried = tried(function);
    if !function.output.scalar() {
        return tried;
    }
    let grad = function.method.then(|| grad(function, context));
    let inputs = grad_inputs(function, context);
    quote!(#grad #inputs #tried)
}

struct Parts {
    receiver: Option<TokenStream>,
    params: Vec<TokenStream>,
    args: Vec<TokenStream>,
    call: TokenStream,
    vjp: TokenStream,
}

fn parts(function: &Function) -> Parts {
    let name = &function.sig.ident;
    let params = function.params.iter().map(|p| {
        let (ident, ty) = (&p.ident, &p.ty);
        quote!(#ident: #ty)
    });
    let args = function.params.iter().map(|p| {
        let ident = &p.ident;
        quote!(#ident)
    });
    let vjp = crate::hygiene::vjp(name);
    let (receiver, call, vjp) = match function.method {
        true => (Some(quote!(&self,)), quote!(self.#name), quote!(self.#vjp)),
        false => (None, quote!(#name), quote!(#name::vjp)),
    };
    Parts { receiver, params: params.collect(), args: args.collect(), call, vjp }
}

fn grads(context: &Context<'_>) -> TokenStream {
    match context.self_ty {
        Some(ty) => quote!(<#ty as ::cotangent::__private::Model>::Grads),
        None => quote!(()),
    }
}

fn grad(function: &Function, context: &Context<'_>) -> TokenStream {
    let Parts { receiver, params, args, vjp, .. } = parts(function);
    let (vis, cfgs, sig, ty) = (&function.vis, &function.cfgs, &function.sig, &function.output.ty);
    let (name, grads) = (format_ident!("{}_grad", sig.ident), grads(context));
    let text = super::called(function, context);
    let doc = format!(" The result of [`{0}`](Self::{0}) and its gradient by the model's parameters.", sig.ident);
    let (generics, clause) = (&sig.generics, &sig.generics.where_clause);
    quote! {
        #(#cfgs)*
        #[doc = #doc]
        #vis fn #name #generics(#receiver #(#params),*) -> (#ty, #grads) #clause {
            let __report = ::cotangent::__private::ReportedCall::around(#text);
            let (__out, __back) = #vjp(#(#args,)* ::cotangent::__private::Want::SELF);
            let (__out, __grads, _) = ::cotangent::__private::gradient(__out, __back);
            (__out, __grads)
        }
    }
}

fn grad_inputs(function: &Function, context: &Context<'_>) -> TokenStream {
    let Parts { receiver, params, args, vjp, .. } = parts(function);
    let (vis, cfgs, sig, ty) = (&function.vis, &function.cfgs, &function.sig, &function.output.ty);
    let name = format_ident!("{}_grad_inputs", sig.ident);
    let text = super::called(function, context);
    let active: Vec<&super::super::ast::Param> = function.params.iter().filter(|p| p.kind == Kind::Active).collect();
    if active.is_empty() {
        return quote!();
    }
    let doc =
        format!(" The result of `{0}`, its gradient, and the cotangents of the float arguments of `{0}`.", sig.ident);
    let patterns = function.params.iter().map(|p| match p.kind {
        Kind::Active => cotangent(&p.ident),
        Kind::Tensor | Kind::Context | Kind::Plain => quote!(_),
    });
    let cts: Vec<TokenStream> = active.iter().map(|p| cotangent(&p.ident)).collect();
    let types: Vec<TokenStream> = active
        .iter()
        .map(|p| {
            let ty = &p.ty;
            quote!(<#ty as ::cotangent::__private::Diff>::Ct)
        })
        .collect();
    let (inputs, input_types) = match &types[..] {
        [one] => (quote!(#(#cts)*), quote!(#one)),
        _ => (quote!((#(#cts),*)), quote!((#(#types),*))),
    };
    let (generics, clause) = (&sig.generics, &sig.generics.where_clause);
    let (result, value) = match function.method {
        true => {
            let grads = grads(context);
            (quote!((#ty, #grads, #input_types)), quote!((__out, __grads, #inputs)))
        }
        false => (quote!((#ty, #input_types)), quote!((__out, #inputs))),
    };
    quote! {
        #(#cfgs)*
        #[doc = #doc]
        #vis fn #name #generics(#receiver #(#params),*) -> #result #clause {
            let __report = ::cotangent::__private::ReportedCall::around(#text);
            let (__out, __back) = #vjp(#(#args,)* ::cotangent::__private::Want::ALL);
            let (__out, __grads, (#(#patterns,)*)) = ::cotangent::__private::gradient(__out, __back);
            #value
        }
    }
}

fn cotangent(name: &Ident) -> TokenStream {
    let ident = format_ident!("__ct_{name}");
    quote!(#ident)
}

fn tried(function: &Function) -> TokenStream {
    let Parts { receiver, params, args, call, .. } = parts(function);
    let (vis, cfgs, sig, ty) = (&function.vis, &function.cfgs, &function.sig, &function.output.ty);
    let name = format_ident!("try_{}", sig.ident);
    let doc = format!(
        " As `{}`, with what would have been a panic as an error.\n\n # Errors\n Shapes, dtypes or arguments that do not fit, and a device that is out of memory.",
        sig.ident
    );
    let cx = function.params.iter().find(|p| p.kind == Kind::Context).map(|p| &p.ident);
    let attempt = match cx {
        Some(cx) => quote!(::cotangent::__private::attempt_with(#cx, |#cx| #call(#(#args),*))),
        None => quote!(::cotangent::__private::attempt(|| #call(#(#args),*))),
    };
    let (generics, clause) = (&sig.generics, &sig.generics.where_clause);
    quote! {
        #(#cfgs)*
        #[doc = #doc]
        #[allow(dead_code, clippy::missing_errors_doc)]
        #vis fn #name #generics(#receiver #(#params),*) -> ::core::result::Result<#ty, ::cotangent::__private::Error> #clause {
            #attempt
        }
    }
}

/// `impl Layer` for a model with `forward(&self, x)` or `forward(&self, x, cx)`.
pub(super) fn layer(function: &Function, context: &Context<'_>) -> Option<TokenStream> {
    let self_ty = context.self_ty?;
    let kinds: Vec<Kind> = function.params.iter().map(|p| p.kind).collect();
    let single = |ty: &syn::Type| matches!(ty, syn::Type::Path(p) if crate::dims::last_name(&p.path).as_deref() == Some("Tensor"));
    let fits = function.sig.ident == "forward"
        && function.method
        && matches!(kinds[..], [Kind::Active] | [Kind::Active, Kind::Context])
        && function.params.first().is_some_and(|p| single(&p.ty))
        && !function.output.tuple
        && single(&function.output.ty)
        && function.sig.generics.params.is_empty();
    let cfgs = &function.cfgs;
    let cx = (kinds.len() == 2).then(|| quote!(, cx));
    let params = context.generics.filter(|g| !g.params.is_empty()).map(|g| &g.params);
    let generics = params.map(|params| quote!([#params]));
    fits.then(|| quote!(#(#cfgs)* ::cotangent::__private::__layer!(#generics #self_ty #cx);))
}
