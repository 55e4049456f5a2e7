//! Rust code for a kernel: its function, its companion, its declared shapes, and the programs behind them.

use super::ast::ParamKind;
use super::{ByHand, Form, Lowered, lower};
use crate::diags::Diags;
use crate::dims::{self, TensorType};
use crate::native::{self, Item, Problem};
use cotangent_ir::{Dim, Kind};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};

/// The code, or what in the kernel has no derivative or no native form.
pub(super) fn kernel(lowered: &Lowered, diags: &mut Diags) -> TokenStream {
    let cfgs = lowered.attrs.iter().filter(|a| a.path().is_ident("cfg"));
    let (attrs, params) = (&lowered.attrs, params(lowered));
    let (mut list, mut paths) = (lowered.kernel.callees.to_vec(), lowered.callees.clone());
    if let Some(ByHand { path, callee: Some(callee), .. }) = &lowered.by_hand
        && !list.iter().any(|known| std::ptr::eq(*known, *callee))
    {
        list.push(callee);
        paths.push(path.clone());
    }
    let item = Item {
        attrs: quote!(#(#attrs)*),
        cfgs: quote!(#(#cfgs)*),
        vis: &lowered.vis,
        name: &lowered.name,
        outs: outs(lowered),
        tuple: lowered.outs.len() > 1,
        kernel: &lowered.kernel,
        groups: groups(lowered),
        nonempty: lowered.nonempty.clone(),
        constants: &lowered.constants,
        list: &list,
        paths: &paths,
        meant: lower::nearest,
        partials: lower::partial,
        by_hand: lowered.by_hand.as_ref(),
        raw: lowered.raw.as_ref(),
        unrounded: lowered.unrounded,
        params,
    };
    let code = match lowered.form {
        Form::Pointwise => native::scalars(&item),
        Form::Tensor => native::tensors(&item),
    };
    match code {
        Ok(code) if lowered.form == Form::Tensor && item.differentiable() => {
            let signature = signature(lowered);
            quote!(#code #signature)
        }
        Ok(code) => code,
        Err(problems) => {
            problems.iter().for_each(|problem| report(lowered, problem, diags));
            TokenStream::new()
        }
    }
}

fn report(lowered: &Lowered, problem: &Problem, diags: &mut Diags) {
    let at = |number: Option<u32>| {
        let span = number.and_then(|n| lowered.spans.get(n as usize)).copied();
        span.unwrap_or_else(|| lowered.name.span())
    };
    match problem {
        Problem::NoDerivative(error) => diags.error_at(at(error.span), error.to_string()),
        Problem::NotNative(problem) => {
            let message = format!("{} is not supported yet in native code", problem.what);
            diags.error_at(at(lowered.kernel.span(problem.node)), message);
        }
    }
}

fn params(lowered: &Lowered) -> Vec<native::Param> {
    let args = lowered.kernel.args.iter();
    let param = |(param, arg): (&super::Param, &cotangent_ir::ArgDef)| {
        let mut ty = param.ty.clone();
        dims::strip_types(&mut ty);
        native::Param {
            name: param.ident.clone(),
            ty: ty.to_token_stream(),
            kind: arg.kind,
            number: lowered.form == Form::Tensor && !matches!(param.kind, ParamKind::Tensor(_)),
            by_mut: param.by_mut,
        }
    };
    lowered.params.iter().zip(args).map(param).collect()
}

fn outs(lowered: &Lowered) -> Vec<native::Out> {
    let out = |out: &super::Out| native::Out { ty: tensor(out.kind) };
    lowered.outs.iter().map(out).collect()
}

fn tensor(kind: Kind) -> TokenStream {
    match kind {
        Kind::Float => quote!(::cotangent::__private::Tensor),
        Kind::Int => quote!(::cotangent::__private::Tensor<::cotangent::__private::Int>),
        Kind::Bool => quote!(::cotangent::__private::Tensor<::cotangent::__private::Bool>),
    }
}

/// The annotations of all parameters and results.
fn shapes(lowered: &Lowered) -> impl Iterator<Item = Option<&TensorType>> {
    let inputs = lowered.params.iter().map(super::Param::shape);
    inputs.chain(lowered.outs.iter().map(|o| o.shape.as_ref()))
}

/// The dims that stand for leading axes.
fn groups(lowered: &Lowered) -> Vec<Dim> {
    let mut groups: Vec<Dim> = vec![];
    for rest in shapes(lowered).flatten().filter_map(|shape| shape.rest.as_ref()?.as_ref()) {
        let name = super::ast::text(rest);
        let dim = lowered.kernel.dims.iter().position(|dim| *dim == name).map(|at| Dim(at as u32));
        groups.extend(dim.filter(|dim| !groups.contains(dim)));
    }
    groups
}

/// The declared shapes, for the proofs of bodies that call the kernel.
fn signature(lowered: &Lowered) -> TokenStream {
    let (name, said) = (&lowered.name, lowered.name.to_string());
    let mut names: Vec<String> = vec![];
    for ident in shapes(lowered).flatten().flat_map(TensorType::names) {
        let text = ident.to_string();
        if !names.contains(&text) {
            names.push(text);
        }
    }
    let scope = Ident::new("SCOPE", Span::call_site());
    let all: Vec<TokenStream> = shapes(lowered)
        .map(|shape| match shape {
            Some(shape) => shape.to_const(&quote!(#scope)),
            None => quote!(::cotangent::__private::shape::Shape::UNKNOWN),
        })
        .collect();
    let (inputs, outputs) = all.split_at(lowered.params.len());
    let cfgs: Vec<_> = lowered.attrs.iter().filter(|a| a.path().is_ident("cfg")).collect();
    quote! {
        #(#cfgs)*
        impl ::cotangent::__private::shape::Signature for #name {
            const SIG: ::cotangent::__private::shape::Sig = {
                const #scope: ::cotangent::__private::shape::Scope =
                    ::cotangent::__private::shape::Scope { model: &[], local: &[#(#names),*] };
                ::cotangent::__private::shape::Sig {
                    name: #said,
                    scope: #scope,
                    inputs: &[#(#inputs),*],
                    outputs: &[#(#outputs),*],
                }
            };
        }
        #(#cfgs)*
        impl #name {
            #[doc(hidden)]
            pub const SIG: ::cotangent::__private::shape::Sig = <#name as ::cotangent::__private::shape::Signature>::SIG;
        }
    }
}
