//! Rust code for a model: the user's item first, then its gradients, its config and what implements `Model`.

mod build;
mod config;
mod enums;
mod guard;
mod proofs;

use super::ast::{Field, Kind, Model, text};
use crate::{caret, hygiene};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use std::collections::BTreeSet;
use syn::{Generics, Item, parse_quote};

/// The whole expansion.
pub(super) fn model(model: &Model) -> TokenStream {
    let generics = bounded(model);
    let (item, grads, settings) = (item(model), grads(model, &generics), config::all(model, &generics));
    let implementation = match model.is_enum {
        true => enums::implementation(model, &generics),
        false => implementation(model, &generics),
    };
    let (init, dims) = (init(model, &generics), dims_macro(model));
    quote! { #item #grads #settings #implementation #init #dims }
}

/// What stands beside errors: everything that others name exists, but it claims and does nothing. A generic model is
/// its item alone.
pub(super) fn stub(model: &Model) -> TokenStream {
    let item = item(model);
    if !model.generics.params.is_empty() {
        return item;
    }
    let generics = bounded(model);
    let (grads, settings) = (grads(model, &generics), config::stub(model, &generics));
    let (init, dims) = (init(model, &generics), dims_macro(model));
    let (name, grads_name, config) = (&model.name, hygiene::grads(&model.name), config::ty(model));
    let (constants, derives) = (proofs::none(model), missing_derives(model));
    quote! {
        #item #grads #settings
        ::cotangent::__private::model_stub! { #name #grads_name [#config] [#(#derives)*] { #constants } }
        #init #dims
    }
}

/// The user's item, with a place for the dims.
fn item(model: &Model) -> TokenStream {
    let mut item = model.item.clone();
    if let Item::Struct(it) = &mut item
        && model.keeps_config()
    {
        let (field, config) = (hygiene::config_field(), hygiene::config(&model.name));
        let (_, types, _) = model.generics.split_for_impl();
        let added: syn::Field = parse_quote!(#field: #config #types);
        match &mut it.fields {
            syn::Fields::Named(fields) => fields.named.push(added),
            syn::Fields::Unit | syn::Fields::Unnamed(_) => {
                it.fields = syn::Fields::Named(parse_quote!({ #added }));
                it.semi_token = None;
            }
        }
    }
    if let Item::Enum(it) = &mut item {
        // A model is one value that lives long: layers of different sizes are no waste.
        it.attrs.push(parse_quote!(#[allow(clippy::large_enum_variant)]));
    }
    item.into_token_stream()
}

/// The generics of all that is emitted: type parameters in layers are models.
fn bounded(model: &Model) -> Generics {
    let mut generics = model.generics.clone();
    let names: Vec<Ident> = generics.type_params().map(|p| p.ident.clone()).collect();
    for name in names {
        if model.fields.iter().any(|f| f.is_model() && mentions(&f.ty, &name)) {
            generics.make_where_clause().predicates.push(parse_quote!(#name: ::cotangent::__private::Model));
        }
    }
    generics
}

/// Whether an identifier is among some tokens.
fn mentions(tokens: &impl ToTokens, name: &Ident) -> bool {
    let mut all = BTreeSet::new();
    guard::idents(tokens.to_token_stream(), &mut all);
    all.contains(&name.to_string())
}

/// Whether a type names a generic parameter, so that no constant outside the impl can.
fn is_generic(model: &Model, ty: &impl ToTokens) -> bool {
    model.generics.params.iter().any(|p| match p {
        syn::GenericParam::Type(t) => mentions(ty, &t.ident),
        syn::GenericParam::Const(c) => mentions(ty, &c.ident),
        syn::GenericParam::Lifetime(_) => false,
    })
}

/// The bounds of each impl: the user's, and that every layer is one. The latter hold or fail for all impls alike, in a
/// form that rustc takes for granted inside of them, so that a field that is no layer is reported once, by its
/// gradients.
fn bounds(model: &Model, generics: &Generics) -> TokenStream {
    let own = generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    let mut seen = BTreeSet::new();
    let layers = model.fields.iter().filter(|f| f.cfgs.is_empty()).flat_map(|f| &f.leaves);
    let layers = layers.filter(|ty| seen.insert(ty.to_token_stream().to_string()));
    quote!(#(#own,)* #(for<'__a> #layers: ::cotangent::__private::Layered<'__a>,)*)
}

/// The struct of gradients.
fn grads(model: &Model, generics: &Generics) -> TokenStream {
    let (vis, name) = (&model.vis, hygiene::grads(&model.name));
    let doc = format!(" The gradients of [`{}`], field by field.", model.name);
    let fields = model.fields.iter().map(|field| {
        let Field { cfgs, ident, ty, .. } = field;
        let vis = if model.is_enum { quote!(pub) } else { field.vis.to_token_stream() };
        let doc = format!(" The gradients of `{}`.", field.text());
        let ty = match field.kind {
            Kind::Layer { .. } | Kind::Tensor { .. } => caret::type_at(quote!(::cotangent::__private::GradsOf), ty),
            Kind::Config { .. } | Kind::Unit => quote!(()),
        };
        quote!(#(#cfgs)* #[doc = #doc] #vis #ident: #ty)
    });
    let clause = &generics.where_clause;
    let params = params(generics);
    quote! {
        #[doc = #doc]
        #[allow(dead_code, non_snake_case, private_bounds, private_interfaces)]
        #vis struct #name #params #clause { #(#fields,)* }
    }
}

/// The declaration of generic parameters, `<L: Layer>`.
fn params(generics: &Generics) -> TokenStream {
    let (declared, ..) = generics.split_for_impl();
    declared.to_token_stream()
}

/// `impl Model` and what goes with it, for a struct.
fn implementation(model: &Model, generics: &Generics) -> TokenStream {
    let (declared, types, _) = generics.split_for_impl();
    let declared = inner(&declared);
    let (name, grads) = (&model.name, hygiene::grads(&model.name));
    let bounds = bounds(model, generics);
    let (constants, proofs) = proofs::all(model);
    let fields: Vec<TokenStream> = model
        .fields
        .iter()
        .filter(|f| f.is_model())
        .map(|field| {
            let (cfgs, ident, text) = (&field.cfgs, &field.ident, field.text());
            let (alias, target): (Vec<_>, Vec<_>) = field.ties.iter().map(|t| (&t.alias, &t.target)).unzip();
            quote!([#(#cfgs)*] #ident #text { #(#alias => #target)* })
        })
        .collect();
    let plain = model.fields.iter().filter(|f| !f.is_model()).map(|f| {
        let (cfgs, ident) = (&f.cfgs, &f.ident);
        quote!([#(#cfgs)*] #ident)
    });
    let (config, text) = (config::ty(model), text(name));
    let build = build::function(model);
    let read = config::read(model);
    let derived = derived(model, &declared, &quote!(#name #types), &bounds);
    quote! {
        const _: () = {
            #proofs
            #derived
            ::cotangent::__private::model! {
                [#declared] [#name #types] [#grads #types] [#bounds]
                { #(#fields)* } { #(#plain)* }
                {
                    type Config = #config;
                    type Grads = #grads #types;
                    const NAME: &'static ::core::primitive::str = #text;
                    #constants
                    #build
                    fn config(&self) -> Self::Config { #read }
                }
            }
        };
    }
}

/// `Clone`, and texts that show the summary, where the user does not derive them.
fn derived(model: &Model, generics: &TokenStream, ty: &TokenStream, bounds: &TokenStream) -> TokenStream {
    let parts = model.fields.iter().map(|field| {
        let (cfgs, ident) = (&field.cfgs, &field.ident);
        match (model.is_enum, &field.kind) {
            (false, _) => quote!([#(#cfgs)*] #ident),
            (true, Kind::Unit) => quote!([#(#cfgs)*] #ident;),
            (true, _) => quote!([#(#cfgs)*] #ident layer;),
        }
    });
    let kept = model.keeps_config().then(|| {
        let field = hygiene::config_field();
        quote!([] #field)
    });
    let parts = if model.is_enum { quote!(enum { #(#parts)* }) } else { quote!(struct { #(#parts)* #kept }) };
    let ours = missing_derives(model).into_iter().map(|name| {
        let parts = if name == "Clone" { parts.clone() } else { quote!() };
        quote!(::cotangent::__private::model_derive! { #name [#generics] [#ty] [#bounds] #parts })
    });
    quote!(#(#ours)*)
}

/// What every model implements and the user does not derive.
fn missing_derives(model: &Model) -> Vec<Ident> {
    let all = ["Clone", "Debug", "Display"].into_iter();
    all.filter(|name| !model.derives.iter().any(|d| d == name))
        .map(|name| Ident::new(name, Span::call_site()))
        .collect()
}

/// The parameters of an impl without their brackets.
fn inner(generics: &impl ToTokens) -> TokenStream {
    let tokens: Vec<_> = generics.to_token_stream().into_iter().collect();
    let end = tokens.len().saturating_sub(1);
    tokens.into_iter().take(end).skip(1).collect()
}

/// `X::init`.
fn init(model: &Model, generics: &Generics) -> TokenStream {
    let (declared, types, _) = generics.split_for_impl();
    let (vis, name, bounds) = (&model.vis, &model.name, bounds(model, generics));
    let doc = format!(" A new `{name}` whose parameters are random numbers drawn from `rng`.");
    let panics = " Raises an error where the config is out of range or the device has no memory left.";
    let config = config::ty(model);
    let (parameter, given) = match config::is_needed(model) {
        true => (quote!(config: #config,), quote!(&config)),
        false => (quote!(), quote!(&::core::default::Default::default())),
    };
    quote! {
        impl #declared #name #types where #bounds {
            #[doc = #doc]
            #[doc = ""]
            #[doc = " # Panics"]
            #[doc = #panics]
            #[allow(dead_code)]
            #vis fn init(
                #parameter
                rng: &mut ::cotangent::__private::Rng,
                device: &::cotangent::__private::Device,
            ) -> Self {
                ::cotangent::__private::init_model(#given, rng, device)
            }
        }
    }
}

/// The `macro_rules!` through which methods read the model's dims.
fn dims_macro(model: &Model) -> TokenStream {
    let (name, long, field) = (&model.name, hygiene::model_macro(&model.name), hygiene::config_field());
    let dims: Vec<&Ident> = model.dims.iter().map(|d| &d.name).collect();
    let rules = if model.is_enum {
        let text =
            |dim| format!("`{dim}` is a dim of an enum, whose variants keep no dims; ask the layer in the variant");
        let texts = dims.iter().map(text);
        quote! {
            #((@dim #dims $s:expr) => { ::core::compile_error!(#texts) };)*
            (@dims $s:expr) => { [] };
        }
    } else {
        quote! {
            #((@dim #dims $s:expr) => { $s.#field.#dims };)*
            (@dims $s:expr) => { [#($s.#field.#dims),*] };
        }
    };
    quote! {
        #[doc(hidden)]
        #[allow(unused_macros)]
        macro_rules! #long {
            #rules
            (@dim $o:ident $s:expr) => { $o };
        }
        #[doc(hidden)]
        #[allow(unused_imports)]
        pub(crate) use #long as #name;
    }
}
