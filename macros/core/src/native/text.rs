//! Kernels in text form as items: how tests reach native code without a surface syntax.

use super::{Item, Out, Param, Problem, tensors};
use cotangent_ir::{Kernel, Kind, link, parse, verify};
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

/// The function of a kernel in text form; its arguments without axes are numbers.
///
/// # Errors
/// What the text, the kernel or its gradient does not allow.
pub fn kernel_of_text(text: &str) -> Result<TokenStream, String> {
    let kernel = parse(text).map_err(|e| e.to_string())?;
    if let Some(fault) = verify(&kernel).first() {
        return Err(fault.to_string());
    }
    kernel_item(&kernel)
}

/// The function of a kernel, as by [`kernel_of_text`].
///
/// # Errors
/// What the kernel or its gradient does not allow.
pub fn kernel_item(kernel: &Kernel) -> Result<TokenStream, String> {
    let kernel = &link(kernel).map_err(|faults| faults.first().map_or_else(String::new, |fault| fault.to_string()))?;
    let name = Ident::new(&kernel.name, Span::call_site());
    let tensor = |kind| match kind {
        Kind::Float => quote!(::cotangent::Tensor),
        Kind::Int => quote!(::cotangent::Tensor<::cotangent::Int>),
        Kind::Bool => quote!(::cotangent::Tensor<::cotangent::Bool>),
    };
    let number = |kind| match kind {
        Kind::Float => quote!(f64),
        Kind::Int => quote!(i64),
        Kind::Bool => quote!(bool),
    };
    let params = kernel.args.iter().map(|arg| Param {
        name: Ident::new(&arg.name, Span::call_site()),
        ty: if arg.dims.is_empty() { number(arg.kind) } else { tensor(arg.kind) },
        kind: arg.kind,
        number: arg.dims.is_empty(),
        by_mut: false,
    });
    let outs: Vec<Out> = kernel.outs.iter().map(|out| Out { ty: tensor(out.kind) }).collect();
    let item = Item {
        attrs: quote!(),
        cfgs: quote!(),
        vis: &syn::parse_quote!(pub),
        name: &name,
        params: params.collect(),
        tuple: outs.len() != 1,
        outs,
        kernel,
        groups: vec![],
        nonempty: vec![],
        constants: &[],
        list: &[],
        paths: &[],
        meant: |_| None,
        partials: |_, _, _| None,
        by_hand: None,
        raw: None,
        unrounded: false,
    };
    tensors(&item).map_err(|problems| {
        let said = |problem: &Problem| match problem {
            Problem::NoDerivative(error) => error.to_string(),
            Problem::NotNative(problem) => format!("{} has no native form", problem.what),
        };
        problems.iter().map(said).collect::<Vec<_>>().join("; ")
    })
}
