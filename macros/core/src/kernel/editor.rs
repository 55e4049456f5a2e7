//! A kernel as editors see it: its body in plain Rust, as an item that rustc never sees.
//!
//! Tensors are types that can be indexed, elements are `f32`, `i64` and `bool`, and the functions of the language come
//! from `__private::language`, which [`language`] writes.

use super::lower::{REDUCTIONS, SCANS, SPECIAL};
use crate::dims::{TensorKind, TensorType, last_name};
use crate::fallback::for_editors;
use cotangent_ir::{FUNCTIONS, Function};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use std::collections::BTreeMap;
use syn::visit::{self, Visit};
use syn::{FnArg, ItemFn, Type};

/// The body of a kernel, under its own parameters and dims.
pub(super) fn shown(item: &TokenStream) -> TokenStream {
    let Ok(ItemFn { sig, block, .. }) = syn::parse2::<ItemFn>(item.clone()) else { return TokenStream::new() };
    let params = sig.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(typed) => {
            let (pat, ty) = (&typed.pat, parameter(&typed.ty));
            Some(quote!(#pat: #ty))
        }
        FnArg::Receiver(_) => None,
    });
    let mut dims = Dims::default();
    dims.visit_signature(&sig);
    let names = dims.0.values();
    for_editors(&quote! {
        #[allow(unused, non_snake_case)]
        fn body(#(#params),*) {
            use ::cotangent::__private::language::*;
            #(let #names: usize = 0;)*
            let _ = #block;
        }
    })
}

/// The type of a parameter in the shown body.
fn parameter(ty: &Type) -> TokenStream {
    let inner = if let Type::Reference(r) = ty { &*r.elem } else { ty };
    let Some(tensor) = tensor(inner) else { return ty.to_token_stream() };
    let element = match tensor.kind {
        TensorKind::Float => quote!(f32),
        TensorKind::Int => quote!(i64),
        TensorKind::Bool => quote!(bool),
    };
    match tensor.dims.len() + usize::from(tensor.rest.is_some()) {
        0 => element,
        rank => {
            let tensor = format_ident!("Tensor{rank}");
            quote!(::cotangent::__private::language::#tensor<#element>)
        }
    }
}

/// `Tensor![..]`.
fn tensor(ty: &Type) -> Option<TensorType> {
    let Type::Macro(m) = ty else { return None };
    (last_name(&m.mac.path)? == "Tensor").then(|| m.mac.parse_body().ok())?
}

/// The dims that a signature names, each where it is first.
#[derive(Default)]
struct Dims(BTreeMap<String, Ident>);

impl<'ast> Visit<'ast> for Dims {
    fn visit_type(&mut self, ty: &'ast Type) {
        for name in tensor(ty).iter().flat_map(TensorType::names) {
            self.0.entry(name.to_string()).or_insert_with(|| name.clone());
        }
        visit::visit_type(self, ty);
    }
}

/// What bodies may name, as items that editors complete and show: the functions of one element, the reductions, and what
/// only kernels have. Those that take a varying number of arguments have a type that is unknown on purpose, so that no
/// call of them is marked.
pub fn language() -> TokenStream {
    let functions = FUNCTIONS.iter().map(|f| (f.name, function(f)));
    let reductions = REDUCTIONS.iter().map(|&name| {
        let doc = format!(" `{name}(|i| x[i])`, or `{name}(0..n, |i| x[i])`: over all indices of the closure.");
        (name, varying(name, &doc))
    });
    let scans = SCANS.iter().map(|&name| {
        let doc = format!(" `{name}(|j| x[j], i)`: over the indices up to `i`, one of an outer closure.");
        (name, varying(name, &doc))
    });
    let special = SPECIAL.iter().filter(|&&name| name != "where");
    let special = special.map(|&name| (name, varying(name, &format!(" `{name}`, which only kernels have."))));
    let items: BTreeMap<&str, TokenStream> = special.chain(scans).chain(reductions).chain(functions).collect();
    items.into_values().collect()
}

/// A function of one element, or of several.
fn function(function: &Function) -> TokenStream {
    let name = ident(function.name);
    let operands: Vec<Ident> = ["x", "y", "z", "w"].iter().take(function.arity).map(|name| ident(name)).collect();
    let names = operands.iter().map(Ident::to_string);
    let numbers = function.numbers.iter().map(|number| format!("{} = {}", number.name, number.default));
    let list = names.chain(numbers).collect::<Vec<_>>().join(", ");
    let doc = format!(" `{}({list})` of each element, as in PyTorch.", function.name);
    if !function.numbers.is_empty() {
        return varying(function.name, &doc);
    }
    let types: Vec<Ident> = (0..operands.len()).map(|i| format_ident!("T{i}")).collect();
    let result = types.last();
    quote!(#[doc = #doc] pub fn #name<#(#types),*>(#(#operands: #types),*) -> #result { loop {} })
}

/// A function that takes a varying number of arguments.
fn varying(name: &str, doc: &str) -> TokenStream {
    let name = ident(name);
    quote!(#[doc = #doc] pub static #name: Varying = Varying;)
}

fn ident(name: &str) -> Ident {
    Ident::new(name, Span::call_site())
}
