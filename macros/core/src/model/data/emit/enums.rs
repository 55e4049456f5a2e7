//! A model enum: one of several layers, and the config that says which.

use super::{bounds, build, derived, guard, inner, params, proofs};
use crate::dims::ArgValue;
use crate::hygiene;
use crate::model::data::ast::{Field, Kind, Layer, Model, Source, text};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::Generics;

/// The layer of a variant.
fn layer(field: &Field) -> Option<&Layer> {
    match &field.kind {
        Kind::Layer { source: Source::Given(layer), .. } => Some(layer),
        _ => None,
    }
}

/// `StageConfig`: an enum of the variants' configs.
pub(super) fn config(model: &Model, generics: &Generics) -> TokenStream {
    let (vis, name, owner) = (&model.vis, hygiene::config(&model.name), &model.name);
    let doc = format!(" Which variant of [`{owner}`] a layer is, and its config.");
    let variants = model.fields.iter().map(|field| {
        let (cfgs, docs, ident, ty) = (&field.cfgs, &field.docs, &field.ident, &field.ty);
        let text = format!(" The config of a `{}`.", field.text());
        let docs = if docs.is_empty() { quote!(#[doc = #text]) } else { quote!(#(#docs)*) };
        match layer(field) {
            Some(_) => quote!(#(#cfgs)* #docs #ident(<#ty as ::cotangent::__private::Model>::Config)),
            None => quote!(#(#cfgs)* #docs #ident),
        }
    });
    let derives = if generics.params.is_empty() { quote!(Clone, Debug) } else { quote!(Clone) };
    let (params, clause) = (params(generics), &generics.where_clause);
    quote! {
        #[doc = #doc]
        #[derive(#derives)]
        #[allow(dead_code, private_bounds, private_interfaces)]
        #vis enum #name #params #clause { #(#variants,)* }
    }
}

/// `impl Model` and what goes with it.
pub(super) fn implementation(model: &Model, generics: &Generics) -> TokenStream {
    let (declared, types, _) = generics.split_for_impl();
    let declared = inner(&declared);
    let (name, grads, settings) = (&model.name, hygiene::grads(&model.name), hygiene::config(&model.name));
    let bounds = bounds(model, generics);
    let (constants, proofs) = proofs::all(model);
    let variants = |with_layer: bool| {
        model.fields.iter().filter(move |f| matches!(f.kind, Kind::Layer { .. }) == with_layer).map(|f| {
            let (cfgs, ident, text) = (&f.cfgs, &f.ident, f.text());
            quote!([#(#cfgs)*] #ident #text)
        })
    };
    let (layers, units) = (variants(true), variants(false));
    let derived = derived(model, &declared, &quote!(#name #types), &bounds);
    let text = text(name);
    let make = make(model);
    let (variant, dims) = (hygiene::constant("name"), hygiene::constant("dims"));
    let build = variants_build(model);
    quote! {
        const _: () = {
            #proofs
            #derived
            ::cotangent::__private::model_enum! {
                [#declared] [#name #types] [#grads #types] [#settings #types] [#settings] [#bounds]
                { #(#layers)* } { #(#units)* }
                {
                    type Config = #settings #types;
                    type Grads = #grads #types;
                    const NAME: &'static ::core::primitive::str = #text;
                    #constants
                    #build
                }
                { [#variant #dims] #make }
            }
        };
    }
}

fn variants_build(model: &Model) -> TokenStream {
    let (at, config, name) = (hygiene::builder(), hygiene::config_field(), hygiene::config(&model.name));
    let arms = model.fields.iter().map(|field| {
        let (cfgs, ident, text) = (&field.cfgs, &field.ident, field.text());
        let mut value = quote!(#at.layer(#text, #config));
        if field.frozen {
            value = quote!(#at.frozen(|#at| #value));
        }
        if field.optional {
            value = quote!(#at.optional(|#at| #value));
        }
        match layer(field) {
            Some(_) => quote!(#(#cfgs)* #name::#ident(#config) => Self::#ident(#value)),
            None => quote!(#(#cfgs)* #name::#ident => Self::#ident),
        }
    });
    quote! {
        #[allow(unused_variables)]
        fn build(#config: &Self::Config, #at: &mut ::cotangent::__private::Builder<'_>) -> Self {
            match #config { #(#arms,)* }
        }
    }
}

/// The config of the variant `__name` of an enum with these dims.
fn make(model: &Model) -> TokenStream {
    let (name, owner) = (hygiene::config(&model.name), text(&model.name));
    let arms = model.fields.iter().map(|field| {
        let (cfgs, ident, variant) = (&field.cfgs, &field.ident, field.text());
        let Some(layer) = layer(field) else {
            return quote!(#(#cfgs)* #variant => #name::#ident);
        };
        let used: Vec<TokenStream> = layer
            .args
            .iter()
            .map(|arg| match &arg.value {
                ArgValue::Dim(dim) => dim.to_usize(),
                ArgValue::Expr(expr) => expr.to_token_stream(),
            })
            .collect();
        let bindings = bindings(model, &used);
        let (checks, settings) = (build::checks(model), build::layer_settings(model, layer));
        quote!(#(#cfgs)* #variant => { #bindings #checks #name::#ident(#settings) })
    });
    let variants = model.fields.iter().map(Field::text);
    quote! {
        match __name {
            #(#arms,)*
            _ => ::cotangent::__private::unknown_variant(#owner, __name, &[#(#variants),*]),
        }
    }
}

/// `let C = ..;` for the dims that some expressions mention; one that was not given raises.
fn bindings(model: &Model, used: &[TokenStream]) -> TokenStream {
    let mut names = std::collections::BTreeSet::new();
    used.iter().for_each(|tokens| guard::idents(tokens.clone(), &mut names));
    model.checks.iter().for_each(|check| guard::idents(check.to_token_stream(), &mut names));
    let owner = text(&model.name);
    let dims = model.dims.iter().enumerate().filter(|(_, d)| names.contains(&d.name.to_string()));
    let dims = dims.map(|(at, dim)| {
        let (name, said) = (&dim.name, text(&dim.name));
        quote!(let #name = ::cotangent::__private::variant_dim(__dims, #at, #owner, #said);)
    });
    quote!(#(#dims)*)
}
