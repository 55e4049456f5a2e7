//! What a layer field's dims are, as constants, and the proofs that its type takes them.

use super::{build, config, is_generic};
use crate::caret;
use crate::dims::{ArgValue, DimExpr};
use crate::hygiene;
use crate::model::data::ast::{DimDefault, Field, Kind, Layer, Model, Source, text};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

/// The constants of the impl, and what stands beside it.
pub(super) fn all(model: &Model) -> (TokenStream, TokenStream) {
    let (scope, list) = (hygiene::constant("SCOPE"), hygiene::constant("DIMS"));
    let names = model.dims.iter().map(|d| text(&d.name));
    let defaults = defaults(model);
    let required = required(model);
    let fields = model.fields.iter().filter_map(|field| {
        let (cfgs, dims) = (&field.cfgs, field_dims(field)?);
        Some(quote!(#(#cfgs)* #dims))
    });
    let constants = quote! {
        const DIMS: &'static [&'static ::core::primitive::str] = #list;
        const DEFAULTS: &'static [::core::option::Option<::cotangent::__private::shape::DimDefault>] = &[#(#defaults),*];
        const REQUIRED: &'static [&'static ::core::primitive::str] = #required;
        const FIELDS: &'static [::cotangent::__private::shape::FieldDims] = &[#(#fields),*];
    };
    let proofs = model.fields.iter().flat_map(|f| f.layers().into_iter().map(move |l| (f, l)));
    let proofs = proofs.filter(|(_, layer)| !is_generic(model, &layer.written));
    let proofs = proofs.map(|(field, layer)| proof(field, layer));
    let beside = quote! {
        #[allow(dead_code)]
        const #list: &[&::core::primitive::str] = &[#(#names),*];
        #[allow(dead_code)]
        const #scope: ::cotangent::__private::shape::Scope = ::cotangent::__private::shape::Scope { model: #list, local: &[] };
        #(#proofs)*
    };
    let forgotten = forgotten(model);
    (constants, quote!(#beside #forgotten))
}

/// A proof that `forward`, if there is one, is in an impl with `#[model]`.
///
/// A method is found before the constant of the same name that a trait gives to every type, and a function item has no
/// size, whereas the constant has one.
fn forgotten(model: &Model) -> Option<TokenStream> {
    if !model.generics.params.is_empty() {
        return None;
    }
    let name = &model.name;
    let message = format!("`{name}::forward` has no derivative: `#[model]` is missing above its `impl`");
    let failure = caret::call_at(name, quote!(::cotangent::__private::shape::fail), quote!(#message));
    Some(quote! {
        const _: () = {
            #[allow(dead_code, non_upper_case_globals)]
            trait __Absent {
                const forward: u8 = 0;
                const forward__sig: u8 = 0;
            }
            impl __Absent for #name {}
            if ::core::mem::size_of_val(&#name::forward) == 0 && ::core::mem::size_of_val(&#name::forward__sig) != 0 {
                #failure
            }
        };
    })
}

/// The constants of a model with mistakes: names, and no claims.
pub(super) fn none(model: &Model) -> TokenStream {
    let names = model.dims.iter().map(|d| text(&d.name));
    let defaults = defaults(model);
    quote! {
        const DIMS: &'static [&'static ::core::primitive::str] = &[#(#names),*];
        const DEFAULTS: &'static [::core::option::Option<::cotangent::__private::shape::DimDefault>] = &[#(#defaults),*];
        const REQUIRED: &'static [&'static ::core::primitive::str] = &[];
        const FIELDS: &'static [::cotangent::__private::shape::FieldDims] = &[];
    }
}

fn defaults(model: &Model) -> Vec<TokenStream> {
    let default = |default: &Option<DimDefault>| {
        let kind = quote!(::cotangent::__private::shape::DimDefault);
        match default {
            Some(DimDefault::Number(n)) => quote!(::core::option::Option::Some(#kind::Number(#n))),
            Some(DimDefault::Like(at, _)) => quote!(::core::option::Option::Some(#kind::Like(#at))),
            None => quote!(::core::option::Option::None),
        }
    };
    model.dims.iter().map(|d| default(&d.default)).collect()
}

/// A type parameter's config is required unless that layer has nothing but defaults.
fn required(model: &Model) -> TokenStream {
    let names = config::required(model);
    let generic = config::generic_fields(model);
    if let ([], [(ty, name)]) = (&names[..], &generic[..]) {
        return quote!(if ::cotangent::__private::has_defaults::<#ty>() { &[] } else { &[#name] });
    }
    let generic = generic.iter().map(|(_, name)| name);
    quote!(&[#(#names,)* #(#generic),*])
}

/// The entry of `Model::FIELDS`.
fn field_dims(field: &Field) -> Option<TokenStream> {
    let name = field.text();
    let args = match &field.kind {
        Kind::Layer { source, .. } => args(declared(source)?),
        Kind::Tensor { shape, .. } => shape.iter().map(|dim| argument("", dim)).collect(),
        Kind::Config { .. } | Kind::Unit => return None,
    };
    Some(entry(&name, &args))
}

/// The layer whose arguments are those of the field's type.
fn declared(source: &Source) -> Option<&Layer> {
    match source {
        Source::Given(layer) => Some(layer),
        Source::Repeat(inner, _) => declared(inner),
        Source::Object(_) | Source::Stored(_) => None,
    }
}

fn entry(name: &str, args: &[TokenStream]) -> TokenStream {
    quote!(::cotangent::__private::shape::FieldDims { name: #name, args: &[#(#args),*] })
}

fn args(layer: &Layer) -> Vec<TokenStream> {
    let dims = layer.args.iter().map(|arg| {
        let name = arg.name.as_ref().map(text).unwrap_or_default();
        match &arg.value {
            ArgValue::Dim(dim) => argument(&name, dim),
            // The layer may have a dim of that name, which then is known as far as the value is a dim of constants that
            // need no type.
            ArgValue::Expr(value) => match syn::parse2::<DimExpr>(value.to_token_stream()) {
                Ok(dim) if dim.constants().is_empty() => argument(&name, &dim),
                Ok(_) | Err(_) => quote!((#name, ::cotangent::__private::shape::Dim::UNKNOWN)),
            },
        }
    });
    dims.collect()
}

fn argument(name: &str, dim: &DimExpr) -> TokenStream {
    let (scope, dim) = (hygiene::constant("SCOPE"), dim);
    let dim = dim.to_const(&quote!(#scope));
    quote!((#name, #dim))
}

/// The proof that a layer takes its arguments. It names the type as the gradients do, so that rustc reports a type that
/// is no layer once.
fn proof(field: &Field, layer: &Layer) -> TokenStream {
    let (cfgs, name, ty) = (&field.cfgs, field.text(), &layer.ty);
    let fields = entry(&name, &args(layer));
    let options = layer.args.iter().filter_map(|arg| match (&arg.name, &arg.value) {
        (Some(name), ArgValue::Expr(value)) if build::is_layer(value) => Some(config::generic_option(&text(name))),
        (Some(name), ArgValue::Expr(_)) => Some(text(name)),
        (Some(_) | None, ArgValue::Dim(_)) | (None, ArgValue::Expr(_)) => None,
    });
    let model = quote!(<#ty as ::cotangent::__private::Model>);
    // The variant of an enum need not use all of its dims.
    let (defaults, required) = match layer.variant {
        Some(_) => {
            let given = quote!(::cotangent::__private::shape::DimDefault::Number(1));
            (quote!(&[::core::option::Option::Some(#given); 16]), quote!(&[]))
        }
        None => (quote!(#model::DEFAULTS), quote!(#model::REQUIRED)),
    };
    let fail = caret::call_at(&layer.written, quote!(::cotangent::__private::shape::fail), quote!(__M.as_str()));
    quote! {
        #(#cfgs)*
        const _: () = {
            const __M: ::cotangent::__private::shape::Message = ::cotangent::__private::shape::check_dims(
                &[#fields], #name, #model::NAME, #model::DIMS, #defaults, #required, &[#(#options),*],
            );
            if !__M.is_empty() { #fail }
        };
    }
}
