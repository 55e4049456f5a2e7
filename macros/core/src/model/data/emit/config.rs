//! `XConfig`: the dims and settings of a model, as a struct that goes into records.

use super::{guard, params};
use crate::hygiene;
use crate::model::data::ast::{DimDefault, Field, Kind, Model, Source, Stored, text};
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::{Attribute, Generics, Type};

/// One field of the config.
struct Entry<'a> {
    cfgs: &'a [Attribute],
    docs: TokenStream,
    name: &'a Ident,
    ty: TokenStream,
    /// `None` where it has to be given.
    default: Option<TokenStream>,
    /// Its present value, in terms of the model.
    read: TokenStream,
}

fn entries(model: &Model) -> Vec<Entry<'_>> {
    let kept = hygiene::config_field();
    let dims = model.dims.iter().map(|dim| {
        let name = &dim.name;
        let doc = match &dim.default {
            Some(DimDefault::Like(_, like)) => format!(" The dim `{name}`; 0 stands for `{like}`."),
            Some(DimDefault::Number(_)) | None => format!(" The dim `{name}`."),
        };
        let default = dim.default.as_ref().map(|default| match default {
            DimDefault::Number(n) => proc_macro2::Literal::i64_unsuffixed(*n).into_token_stream(),
            DimDefault::Like(..) => quote!(0),
        });
        let ty = quote!(::core::primitive::usize);
        Entry { cfgs: &[], docs: quote!(#[doc = #doc]), name, ty, default, read: quote!(self.#kept.#name) }
    });
    let fields = model.fields.iter().filter_map(|field| {
        let (name, ty) = (&field.ident, &field.ty);
        let own = |text: String| {
            let docs = &field.docs;
            if docs.is_empty() { quote!(#[doc = #text]) } else { quote!(#(#docs)*) }
        };
        let entry = |docs, ty, default, read| Some(Entry { cfgs: &field.cfgs, docs, name, ty, default, read });
        match &field.kind {
            Kind::Config { default } => {
                let read = quote!(::core::clone::Clone::clone(&self.#name));
                entry(own(format!(" The setting `{}`.", field.text())), ty.to_token_stream(), default.clone(), read)
            }
            Kind::Layer { flag: Some(default), .. } | Kind::Tensor { flag: Some(default), .. } => {
                let doc = format!(" Whether there is a `{}`.", field.text());
                let read = quote!(self.#name.is_some());
                entry(quote!(#[doc = #doc]), quote!(::core::primitive::bool), Some(quote!(#default)), read)
            }
            Kind::Layer { source: Source::Stored(stored), .. } => {
                let what = match stored {
                    Stored::List(_) => "The configs of the layers in",
                    Stored::One(_) | Stored::Absent | Stored::Defaults => "The config of",
                };
                let none = match stored {
                    Stored::List(_) | Stored::One(_) => "those that the model declares",
                    Stored::Absent => "no such layer",
                    Stored::Defaults => "the layer's own defaults",
                };
                let doc = format!(" {what} `{}`; `None` stands for {none}.", field.text());
                let ty = quote!(::core::option::Option<<#ty as ::cotangent::__private::Model>::Config>);
                let read = quote!(::core::option::Option::Some(::cotangent::__private::Model::config(&self.#name)));
                entry(quote!(#[doc = #doc]), ty, Some(quote!(::core::option::Option::None)), read)
            }
            Kind::Layer { .. } | Kind::Tensor { .. } | Kind::Unit => None,
        }
    });
    dims.chain(fields).collect()
}

/// Whether the model has a config of its own.
pub(super) fn exists(model: &Model) -> bool {
    model.is_enum || !entries(model).is_empty()
}

/// Whether `init` takes the config: it has dims, or entries without a default.
pub(super) fn is_needed(model: &Model) -> bool {
    let lacks = |e: &Entry<'_>| e.default.is_none();
    let generic = !generic_fields(model).is_empty();
    model.is_enum || generic || !model.dims.is_empty() || entries(model).iter().any(lacks)
}

/// What a field says that gives the config of a generic layer; the word that `Model::REQUIRED` uses.
pub(super) fn generic_option(name: &str) -> String {
    format!("#[init({name} = ..)]")
}

/// The fields whose type is a type parameter: the type, and what asks for its config.
pub(super) fn generic_fields(model: &Model) -> Vec<(&Type, String)> {
    let is_generic = |f: &&Field| matches!(f.kind, Kind::Layer { source: Source::Stored(Stored::Defaults), .. });
    model.fields.iter().filter(is_generic).map(|f| (&f.ty, generic_option(&f.text()))).collect()
}

/// `Model::REQUIRED`: names of entries, dims aside, that have no default. An enum asks for a variant.
pub(super) fn required(model: &Model) -> Vec<String> {
    if model.is_enum {
        return vec![format!("#[init({}::..)]", text(&model.name))];
    }
    let entries = entries(model);
    entries.iter().skip(model.dims.len()).filter(|e| e.default.is_none()).map(|e| text(e.name)).collect()
}

/// `Model::Config`.
pub(super) fn ty(model: &Model) -> TokenStream {
    if !exists(model) {
        return quote!(());
    }
    let (name, (_, types, _)) = (hygiene::config(&model.name), model.generics.split_for_impl());
    quote!(#name #types)
}

/// The body of `Model::config`.
pub(super) fn read(model: &Model) -> TokenStream {
    if !exists(model) {
        return quote!();
    }
    let name = hygiene::config(&model.name);
    let fields = entries(model).into_iter().map(|Entry { cfgs, name, read, .. }| quote!(#(#cfgs)* #name: #read));
    quote!(#name { #(#fields),* })
}

/// The struct and its impls.
pub(super) fn all(model: &Model, generics: &Generics) -> TokenStream {
    if model.is_enum {
        return super::enums::config(model, generics);
    }
    let entries = entries(model);
    if entries.is_empty() {
        return quote!();
    }
    let (name, declaration) = (hygiene::config(&model.name), declaration(model, generics, &entries));
    let (declared, types, _) = generics.split_for_impl();
    let declared = super::inner(&declared);
    let serial = entries.iter().map(|Entry { cfgs, name, default, .. }| {
        let default = match default {
            Some(default) => quote!(::core::option::Option::Some(#default)),
            None => quote!(::core::option::Option::None),
        };
        let text = text(name);
        quote!([#(#cfgs)*] #name #text #default;)
    });
    let text = name.to_string();
    let (made, from_dims) = construct(model, &entries);
    let bounds = generics.where_clause.as_ref().map(|c| &c.predicates);
    quote! {
        #declaration
        const _: () = {
            #made
            #from_dims
            ::cotangent::__private::config! { [#declared] [#name #types] #text [#bounds] { #(#serial)* } }
        };
    }
}

/// The struct, and impls that do nothing.
pub(super) fn stub(model: &Model, generics: &Generics) -> TokenStream {
    let name = hygiene::config(&model.name);
    if model.is_enum {
        let declaration = super::enums::config(model, generics);
        return quote!(#declaration ::cotangent::__private::config_stub! { #name });
    }
    let mut entries: Vec<Entry<'_>> = vec![];
    for mut entry in self::entries(model) {
        if !entries.iter().any(|e| e.name == entry.name) {
            entry.default = entry.default.map(|_| quote!(::cotangent::__private::unbuilt()));
            entries.push(entry);
        }
    }
    if entries.is_empty() {
        return quote!();
    }
    let (declaration, (made, _)) = (declaration(model, generics, &entries), construct(model, &entries));
    quote!(#declaration #made ::cotangent::__private::config_stub! { #name })
}

fn declaration(model: &Model, generics: &Generics, entries: &[Entry<'_>]) -> TokenStream {
    let (vis, name) = (&model.vis, hygiene::config(&model.name));
    let doc = format!(" The dims and settings of [`{}`].", model.name);
    let derives = if generics.params.is_empty() { quote!(Clone, Debug) } else { quote!(Clone) };
    let fields = entries.iter().map(|Entry { cfgs, docs, name, ty, .. }| quote!(#(#cfgs)* #docs pub #name: #ty));
    let (params, clause) = (params(generics), &generics.where_clause);
    quote! {
        #[doc = #doc]
        #[derive(#derives)]
        #[allow(dead_code, non_snake_case, private_bounds, private_interfaces)]
        #vis struct #name #params #clause { #(#fields,)* }
    }
}

/// `XConfig::new` or `Default`; and the config of `Linear![784 => 256]`.
fn construct(model: &Model, entries: &[Entry<'_>]) -> (TokenStream, TokenStream) {
    let generics = super::bounded(model);
    let (declared, types, clause) = generics.split_for_impl();
    let name = hygiene::config(&model.name);
    let required: Vec<&Entry<'_>> = entries.iter().filter(|e| e.default.is_none()).collect();
    let values = entries.iter().map(|Entry { cfgs, name, default, .. }| match default {
        Some(default) => quote!(#(#cfgs)* #name: #default),
        None => quote!(#(#cfgs)* #name),
    });
    let values = quote!(Self { #(#values),* });
    let (made, start) = if required.is_empty() {
        let made = quote! {
            impl #declared ::core::default::Default for #name #types #clause {
                fn default() -> Self { #values }
            }
        };
        (made, quote!(<Self as ::core::default::Default>::default()))
    } else {
        let names = required.iter().map(|e| guard::said(e.name));
        let doc = format!(
            "These {}, and defaults for all else.",
            names.map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")
        );
        let vis = &model.vis;
        let parameters = required.iter().map(|Entry { cfgs, name, ty, .. }| quote!(#(#cfgs)* #name: #ty));
        let made = quote! {
            impl #declared #name #types #clause {
                #[doc = #doc]
                #[allow(dead_code, non_snake_case, private_interfaces, clippy::too_many_arguments)]
                #vis fn new(#(#parameters),*) -> Self { #values }
            }
        };
        let empty = required.iter().map(|e| {
            let cfgs = e.cfgs;
            quote!(#(#cfgs)* ::core::default::Default::default())
        });
        (made, quote!(Self::new(#(#empty),*)))
    };
    let dims = model.dims.iter().map(|d| &d.name);
    let mut config = quote!(#start);
    if !model.dims.is_empty() {
        config = quote! {
            let mut __made = #start;
            ::cotangent::__private::put_dims([#(&mut __made.#dims),*], __dims);
            __made
        };
    }
    let from_dims = quote! {
        impl #declared ::cotangent::__private::FromDims for #name #types #clause {
            fn from_dims(__dims: &[::core::primitive::usize]) -> Self { #config }
        }
    };
    (made, from_dims)
}
