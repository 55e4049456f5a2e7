//! `Model::build`.

use super::guard;
use crate::dims::{ArgValue, DimExpr};
use crate::hygiene;
use crate::model::data::ast::{DimDefault, Field, Kind, Layer, Model, Source, Stored, text};
use crate::model::data::check::is_dim_name;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Expr, Lit};

/// The function.
pub(super) fn function(model: &Model) -> TokenStream {
    let (at, config) = (hygiene::builder(), hygiene::config_field());
    let config = quote!(#config);
    let ties = model.fields.iter().flat_map(|f| f.ties.iter().map(|t| (&f.cfgs, t))).map(|(cfgs, tie)| {
        let (alias, target) = (&tie.alias, &tie.target);
        quote!(#(#cfgs)* #at.tie(#alias, #target);)
    });
    let fields = model.fields.iter().map(|field| {
        let (cfgs, ident, value) = (&field.cfgs, &field.ident, value(model, field));
        quote!(#(#cfgs)* #ident: #value)
    });
    let kept = model.keeps_config().then(|| {
        let (field, kept) = (hygiene::config_field(), hygiene::local("kept", 0));
        let like = model.dims.iter().filter(|dim| matches!(dim.default, Some(DimDefault::Like(..)))).map(|dim| {
            let (name, value) = (&dim.name, guard::dim_value(dim, &kept.to_token_stream()));
            quote!(#kept.#name = #value;)
        });
        quote!(#field: { let mut #kept = ::core::clone::Clone::clone(#config); #(#like)* #kept },)
    });
    let (checks, body) = (checks(model), quote!(Self { #(#fields,)* #kept }));
    let words = model.fields.iter().any(|f| matches!(f.kind, Kind::Tensor { .. })).then(|| {
        quote! {
            #[allow(unused_imports)]
            use ::cotangent::__private::words::*;
        }
    });
    let bindings = guard::bindings(model, &config, &mentioned(model));
    quote! {
        #[allow(non_snake_case, unused_variables, unused_mut)]
        fn build(#config: &Self::Config, #at: &mut ::cotangent::__private::Builder<'_>) -> Self {
            #words
            #bindings
            #checks
            #(#ties)*
            #body
        }
    }
}

/// Statements that raise where `check(..)` fails.
pub(super) fn checks(model: &Model) -> TokenStream {
    let name = text(&model.name);
    let checks = model.checks.iter().map(|check| {
        let (said, guarded) = (guard::said(check), guard::expression(model, check));
        let mut used = std::collections::BTreeSet::new();
        guard::idents(check.to_token_stream(), &mut used);
        let names: Vec<_> = model.dims.iter().map(|d| &d.name).filter(|d| used.contains(&d.to_string())).collect();
        let format = names.iter().map(|n| format!("{n} = {{}}")).collect::<Vec<_>>().join(", ");
        quote! {
            if !(#guarded) {
                ::cotangent::__private::failed_check(#said, #name, ::core::format_args!(#format, #(#names),*));
            }
        }
    });
    quote!(#(#checks)*)
}

/// The expressions in which dims and settings are values.
fn mentioned(model: &Model) -> Vec<TokenStream> {
    let mut all: Vec<TokenStream> = model.checks.iter().map(ToTokens::to_token_stream).collect();
    for field in &model.fields {
        match &field.kind {
            Kind::Layer { source, .. } => lengths(source, &mut all),
            Kind::Tensor { shape, init, list, .. } => {
                all.extend(shape.iter().chain(list).map(DimExpr::to_usize));
                all.push(init.clone());
            }
            Kind::Config { .. } | Kind::Unit => {}
        }
        for layer in field.layers() {
            all.extend(layer.args.iter().map(|arg| match &arg.value {
                ArgValue::Dim(dim) => dim.to_usize(),
                ArgValue::Expr(expr) => expr.to_token_stream(),
            }));
        }
    }
    all
}

fn lengths(source: &Source, into: &mut Vec<TokenStream>) {
    if let Source::Repeat(inner, length) = source {
        into.push(length.to_usize());
        lengths(inner, into);
    }
}

/// What a field is built as.
fn value(model: &Model, field: &Field) -> TokenStream {
    let (at, config, ident, text) = (hygiene::builder(), hygiene::config_field(), &field.ident, field.text());
    let (mut value, flag) = match &field.kind {
        Kind::Config { .. } => return quote!(::core::clone::Clone::clone(&#config.#ident)),
        Kind::Unit => return quote!(()),
        Kind::Layer { source, flag } => {
            let given = match source {
                Source::Stored(stored) => self::stored(model, field, stored),
                other => settings(model, other),
            };
            (quote!(#at.layer(#text, &#given)), flag)
        }
        Kind::Tensor { state, shape, init, flag, list } => {
            let sizes = shape.iter().map(DimExpr::to_usize);
            let shape = quote!(&[#(#sizes),*]);
            let value = match (list, state) {
                (None, false) => quote!(#at.param(#text, #shape, #init)),
                (None, true) => quote!(#at.state(#text, #shape, #init)),
                (Some(n), _) => {
                    let (n, function) = (n.to_usize(), if *state { quote!(states) } else { quote!(params) });
                    quote!(::cotangent::__private::#function(#at, #text, #n, #shape, || #init))
                }
            };
            (value, flag)
        }
    };
    if flag.is_some() {
        value = quote!(#at.option(#text, #config.#ident, |#at| #value));
    }
    if field.frozen {
        value = quote!(#at.frozen(|#at| #value));
    }
    if field.optional {
        value = quote!(#at.optional(|#at| #value));
    }
    value
}

fn stored(model: &Model, field: &Field, stored: &Stored) -> TokenStream {
    let (config, ident) = (hygiene::config_field(), &field.ident);
    let given = match stored {
        Stored::List(items) => {
            let items = items.iter().map(|item| settings(model, item));
            quote!(::std::vec![#(#items),*])
        }
        Stored::One(one) => settings(model, one),
        Stored::Absent => quote!(::core::option::Option::None),
        Stored::Defaults => {
            let (ty, text) = (&field.ty, field.text());
            return quote!(::cotangent::__private::defaults::<#ty>(&#config.#ident, #text));
        }
    };
    quote!(::cotangent::__private::stored(&#config.#ident, #given))
}

/// The config of a layer, as an expression.
fn settings(model: &Model, source: &Source) -> TokenStream {
    match source {
        Source::Given(layer) => layer_settings(model, layer),
        Source::Object(layer) => {
            let (ty, settings) = (&layer.ty, layer_settings(model, layer));
            quote!(::cotangent::__private::LayerConfig::of::<#ty>(&#settings))
        }
        Source::Repeat(inner, length) => {
            let (inner, length) = (settings(model, inner), length.to_usize());
            quote!(::cotangent::__private::repeat(#inner, #length))
        }
        Source::Stored(Stored::List(items)) => {
            let items = items.iter().map(|item| settings(model, item));
            quote!(::std::vec![#(#items),*])
        }
        Source::Stored(Stored::One(one)) => settings(model, one),
        Source::Stored(Stored::Absent | Stored::Defaults) => quote!(::core::option::Option::None),
    }
}

/// The config of one layer out of its arguments.
pub(super) fn layer_settings(model: &Model, layer: &Layer) -> TokenStream {
    let (ty, made) = (&layer.ty, hygiene::local("made", 0));
    let (mut places, mut named) = (vec![], vec![]);
    for arg in &layer.args {
        match (&arg.name, &arg.value) {
            (None, ArgValue::Dim(dim)) => places.push(dim.to_usize()),
            (Some(name), ArgValue::Dim(dim)) => named.push((name, dim.to_usize())),
            (Some(name), ArgValue::Expr(value)) => named.push((name, option(model, value))),
            (None, ArgValue::Expr(_)) => {}
        }
    }
    if let Some(variant) = &layer.variant {
        let text = text(variant);
        let named = named.iter().filter(|(name, _)| is_dim_name(name)).map(|(name, value)| {
            let name = self::text(name);
            quote!((#name, #value))
        });
        return quote!({
            let _ = #ty::#variant;
            ::cotangent::__private::variant::<#ty>(#text, &[#(#places),*], &[#(#named),*])
        });
    }
    let start = quote!(::cotangent::__private::settings::<#ty>(&[#(#places),*]));
    if named.is_empty() {
        return start;
    }
    let set = named.iter().map(|(name, value)| quote!(#made.#name = #value;));
    quote!({ let mut #made = #start; #(#set)* #made })
}

/// Whether the value of an option is the config of a layer: `inner = Linear![C => C]`.
pub(super) fn is_layer(value: &Expr) -> bool {
    matches!(value, Expr::Macro(mac) if mac.mac.path.segments.last().is_some_and(|s| is_dim_name(&s.ident)))
}

/// The value of an option: text becomes whatever string type the option has, a layer its config.
fn option(model: &Model, value: &Expr) -> TokenStream {
    match value {
        Expr::Lit(literal) if matches!(literal.lit, Lit::Str(_)) => quote!(::core::convert::Into::into(#value)),
        layer if is_layer(layer) => match syn::parse2::<Layer>(value.to_token_stream()) {
            Ok(layer) => {
                let settings = layer_settings(model, &layer);
                quote!(::core::option::Option::Some(#settings))
            }
            Err(error) => error.to_compile_error(),
        },
        other => guard::expression(model, other).to_token_stream(),
    }
}
