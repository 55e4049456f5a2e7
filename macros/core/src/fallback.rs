//! What is emitted beside errors: the user's item in plain Rust.
//!
//! The editor keeps completing in it, and names that it declares stay known, so that no second wave of errors follows.

use crate::dims;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::punctuated::Punctuated;
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, FnArg, Item, Pat, Signature, Token, Type};

/// Attributes that only `#[model]` knows.
const OURS: &[&str] =
    &["init", "state", "config", "frozen", "tied", "optional", "no_grad", "checkpoint", "boxed", "save", "recompute"];

/// Whether an attribute is one of ours.
pub(crate) fn is_ours(attr: &Attribute) -> bool {
    OURS.iter().any(|name| attr.path().is_ident(name))
}

/// The errors, and the item without our attributes and with our types replaced.
pub(crate) fn with_errors(item: &TokenStream, errors: TokenStream) -> TokenStream {
    let item = match syn::parse2::<Item>(item.clone()) {
        Ok(mut item) => {
            Strip.visit_item_mut(&mut item);
            item.into_token_stream()
        }
        Err(_) => item.clone(),
    };
    quote!(#item #errors)
}

/// An item that rustc never sees.
pub(crate) fn for_editors(item: &TokenStream) -> TokenStream {
    quote! {
        #[allow(unexpected_cfgs)]
        const _: () = {
            #[cfg(rust_analyzer)]
            #item
        };
    }
}

/// The errors, and a function of the kernel's signature that is never run: its body is no plain Rust.
pub(crate) fn of_kernel(item: &TokenStream, errors: TokenStream) -> TokenStream {
    let item = match syn::parse2::<syn::ItemFn>(item.clone()) {
        Ok(mut item) => {
            Strip.visit_item_fn_mut(&mut item);
            item.sig.inputs = parameters(&item.sig);
            (item.sig.constness, item.sig.asyncness) = (None, None);
            item.attrs.push(syn::parse_quote!(#[allow(unused)]));
            item.block = syn::parse_quote!({ ::cotangent::__private::never() });
            item.into_token_stream()
        }
        Err(_) => item.clone(),
    };
    quote!(#item #errors)
}

/// The parameters that a free function may have: no `self`, and no name where rustc has its own mistake to report.
fn parameters(sig: &Signature) -> Punctuated<FnArg, Token![,]> {
    let mut names: Vec<String> = vec![];
    let parameter = |input: &FnArg| {
        let FnArg::Typed(typed) = input else { return None };
        let mut typed = typed.clone();
        match &*typed.pat {
            Pat::Ident(p) if p.subpat.is_none() && !names.contains(&p.ident.to_string()) => {
                names.push(p.ident.to_string());
            }
            _ => typed.pat = syn::parse_quote!(_),
        }
        Some(FnArg::Typed(typed))
    };
    sig.inputs.iter().filter_map(parameter).collect()
}

struct Strip;

impl VisitMut for Strip {
    fn visit_attributes_mut(&mut self, attrs: &mut Vec<Attribute>) {
        attrs.retain(|attr| !is_ours(attr));
    }

    fn visit_field_mut(&mut self, field: &mut syn::Field) {
        self.visit_attributes_mut(&mut field.attrs);
        dims::strip_field(&mut field.ty);
    }

    fn visit_type_mut(&mut self, ty: &mut Type) {
        dims::strip_types(ty);
    }

    fn visit_expr_mut(&mut self, expr: &mut syn::Expr) {
        visit_mut::visit_expr_mut(self, expr);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strips() {
        let item = quote! {
            #[derive(Debug)]
            struct A { #[init(ones)] w: Param![C], #[config] n: usize, b: [Block![C]; L] }
        };
        let plain = with_errors(&item, quote!(compile_error! { "no" }));
        let expected = quote! {
            #[derive(Debug)]
            struct A { w: Param, n: usize, b: ::std::vec::Vec<Block> }
            compile_error! { "no" }
        };
        assert_eq!(plain.to_string(), expected.to_string());
    }

    #[test]
    fn a_kernel_keeps_parameters_that_are_sound() {
        let item = quote!(
            const fn k(&self, x: f32, (a, b): f32, x: f32) -> f32 {
                a
            }
        );
        let expected = quote! {
            #[allow(unused)]
            fn k(x: f32, _: f32, _: f32) -> f32 { ::cotangent::__private::never() }
            compile_error! { "no" }
        };
        assert_eq!(of_kernel(&item, quote!(compile_error! { "no" })).to_string(), expected.to_string());
    }

    #[test]
    fn keeps_what_is_no_item() {
        assert_eq!(with_errors(&quote!(struct +), quote!()).to_string(), "struct +");
    }
}
