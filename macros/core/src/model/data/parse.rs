//! From the user's item to [`ast`](super::ast). What cannot be read is reported and replaced by something harmless.

use super::ast::{Dim, DimDefault, Field, Kind, Layer, Model, Source, Stored, Tie, text};
use super::check;
use super::marks::{Init, Marks};
use crate::diags::Diags;
use crate::dims::{self, DimExpr, LayerType, TensorType};
use crate::fallback;
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Expr, Fields, GenericArgument, Generics, Item, ItemEnum, ItemStruct, LitInt, PathArguments, Token, Type,
};

/// Reads a struct.
pub(super) fn struct_(args: TokenStream, mut item: ItemStruct, diags: &mut Diags) -> Model {
    let (dims, checks) = options(args, diags);
    let generics = item.generics.clone();
    let mut fields = vec![];
    match &mut item.fields {
        Fields::Named(named) => {
            for field in &mut named.named {
                let (mut attrs, ours) = split(std::mem::take(&mut field.attrs));
                fields.extend(read_field(field, &attrs, ours, &generics, diags));
                std::mem::swap(&mut field.attrs, &mut attrs);
                if !matches!(fields.last().map(|f: &Field| &f.kind), Some(Kind::Config { .. })) {
                    dims::strip_field(&mut field.ty);
                }
            }
        }
        Fields::Unnamed(unnamed) => {
            check::unnamed_fields(unnamed, diags);
            unnamed.unnamed.iter_mut().for_each(|field| dims::strip_field(&mut field.ty));
        }
        Fields::Unit => {}
    }
    let derives = derives(&item.attrs);
    let (vis, name) = (item.vis.clone(), item.ident.clone());
    Model { vis, name, generics, dims, checks, fields, derives, is_enum: false, item: Item::Struct(item) }
}

/// Reads an enum.
pub(super) fn enum_(args: TokenStream, mut item: ItemEnum, diags: &mut Diags) -> Model {
    let (dims, checks) = options(args, diags);
    let generics = item.generics.clone();
    let mut fields = vec![];
    for variant in &mut item.variants {
        let (attrs, ours) = split(std::mem::take(&mut variant.attrs));
        let (form, mut leaves) = (variant.fields.to_token_stream(), vec![]);
        let (kind, ty) = match &mut variant.fields {
            Fields::Unit => (Kind::Unit, syn::parse_quote!(())),
            Fields::Unnamed(inner) if inner.unnamed.len() == 1 => {
                let mut kind = Kind::Unit;
                for field in &mut inner.unnamed {
                    let what = Type::clone(&field.ty);
                    kind = match read_kind(&what, &Marks::default(), &generics, &mut leaves, diags) {
                        Some(kind @ Kind::Layer { source: Source::Given(_), .. }) => kind,
                        _ => {
                            check::variant_without_layer(&what, diags);
                            Kind::Unit
                        }
                    };
                    dims::strip_field(&mut field.ty);
                }
                let ty = inner.unnamed.first().map(|f| f.ty.clone());
                (kind, ty.unwrap_or_else(|| syn::parse_quote!(())))
            }
            fields @ (Fields::Named(_) | Fields::Unnamed(_)) => {
                check::variant_form(&form, diags);
                fields.iter_mut().for_each(|field| dims::strip_field(&mut field.ty));
                (Kind::Unit, syn::parse_quote!(()))
            }
        };
        let marks = Marks::read(ours, diags);
        marks.refuse(&["frozen", "optional"], "a variant", diags);
        fields.push(Field {
            cfgs: named(&attrs, "cfg"),
            docs: named(&attrs, "doc"),
            vis: syn::Visibility::Inherited,
            ident: variant.ident.clone(),
            ty,
            leaves,
            kind,
            frozen: marks.frozen(),
            optional: marks.optional(),
            ties: vec![],
        });
        variant.attrs = attrs;
    }
    let derives = derives(&item.attrs);
    let (vis, name) = (item.vis.clone(), item.ident.clone());
    Model { vis, name, generics, dims, checks, fields, derives, is_enum: true, item: Item::Enum(item) }
}

/// `dims(..)` and `check(..)`.
fn options(args: TokenStream, diags: &mut Diags) -> (Vec<Dim>, Vec<Expr>) {
    let (mut dims, mut checks) = (vec![], vec![]);
    let read = |input: ParseStream<'_>| {
        while !input.is_empty() {
            let name: Ident = input.call(Ident::parse_any)?;
            let content;
            match name.to_string().as_str() {
                "dims" => {
                    syn::parenthesized!(content in input);
                    let entries = Punctuated::<(Ident, Option<Expr>), Token![,]>::parse_terminated_with(&content, dim)?;
                    dims.extend(entries);
                }
                "check" => {
                    syn::parenthesized!(content in input);
                    checks.extend(Punctuated::<Expr, Token![,]>::parse_terminated(&content)?);
                }
                _ => {
                    check::unknown_option(&name, diags);
                    if input.peek(syn::token::Paren) {
                        syn::parenthesized!(content in input);
                        content.parse::<TokenStream>()?;
                    } else if input.peek(Token![=]) {
                        input.parse::<Token![=]>()?;
                        input.parse::<Expr>()?;
                    }
                }
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(())
    };
    let result = read.parse2(args);
    diags.take(result);
    let mut had_default = false;
    let mut read: Vec<Dim> = vec![];
    for (name, value) in dims {
        let default = value.as_ref().and_then(|value| default(value, &read));
        if (value.is_some() || had_default) && default.is_none() {
            check::dim_default(&value.map_or_else(|| name.to_token_stream(), |v| v.to_token_stream()), diags);
        }
        had_default |= default.is_some();
        read.push(Dim { name, default });
    }
    (read, checks)
}

fn dim(input: ParseStream<'_>) -> syn::Result<(Ident, Option<Expr>)> {
    let name = input.parse()?;
    let value = if input.peek(Token![=]) {
        input.parse::<Token![=]>()?;
        Some(input.parse()?)
    } else {
        None
    };
    Ok((name, value))
}

/// The default that an expression is: a number, or one of the dims before.
fn default(value: &Expr, before: &[Dim]) -> Option<DimDefault> {
    if let Ok(name) = syn::parse2::<Ident>(value.to_token_stream()) {
        let at = before.iter().position(|dim| dim.name == name)?;
        return Some(DimDefault::Like(at, name));
    }
    let literal = syn::parse2::<LitInt>(value.to_token_stream()).ok()?;
    literal.base10_parse().ok().map(DimDefault::Number)
}

/// The user's attributes, and ours.
fn split(attrs: Vec<Attribute>) -> (Vec<Attribute>, Vec<Attribute>) {
    attrs.into_iter().partition(|attr| !fallback::is_ours(attr))
}

fn named(attrs: &[Attribute], name: &str) -> Vec<Attribute> {
    attrs.iter().filter(|a| a.path().is_ident(name)).cloned().collect()
}

/// The last names of the derived traits.
fn derives(attrs: &[Attribute]) -> Vec<String> {
    let paths = attrs
        .iter()
        .filter(|a| a.path().is_ident("derive"))
        .filter_map(|a| a.parse_args_with(Punctuated::<syn::Path, Token![,]>::parse_terminated).ok());
    paths.flatten().filter_map(|path| dims::last_name(&path)).collect()
}

fn read_field(
    field: &syn::Field,
    attrs: &[Attribute],
    ours: Vec<Attribute>,
    generics: &Generics,
    diags: &mut Diags,
) -> Option<Field> {
    let ident = field.ident.clone()?;
    let marks = Marks::read(ours, diags);
    let mut leaves = vec![];
    let kind = read_kind(&field.ty, &marks, generics, &mut leaves, diags).unwrap_or(Kind::Unit);
    let ties = marks.ties(&text(&ident), matches!(kind, Kind::Tensor { .. }), diags);
    let mut ty = field.ty.clone();
    match &kind {
        Kind::Config { .. } => marks.refuse(&["config"], "a plain value", diags),
        Kind::Tensor { state: true, .. } => marks.refuse(&["state", "config", "optional"], "a state", diags),
        Kind::Tensor { .. } => marks.refuse(&["init", "config", "frozen", "tied", "optional"], "a parameter", diags),
        Kind::Layer { .. } => marks.refuse(&["init", "config", "frozen", "tied", "optional"], "a layer", diags),
        Kind::Unit => {}
    }
    if !matches!(kind, Kind::Config { .. }) {
        dims::strip_field(&mut ty);
    }
    Some(Field {
        cfgs: named(attrs, "cfg"),
        docs: named(attrs, "doc"),
        vis: field.vis.clone(),
        ident,
        ty,
        leaves,
        kind,
        frozen: marks.frozen(),
        optional: marks.optional(),
        ties: ties.into_iter().map(|(alias, target)| Tie { alias, target }).collect(),
    })
}

/// What a field of this type is; `None` where that is unclear and reported.
fn read_kind(ty: &Type, marks: &Marks, generics: &Generics, leaves: &mut Vec<Type>, diags: &mut Diags) -> Option<Kind> {
    let form = form(ty, generics, diags)?;
    let (inner, option) = match form {
        Form::Option(inner) => (*inner, true),
        other => (other, false),
    };
    let is_plain = matches!(inner, Form::Plain);
    if is_plain || marks.is_config() && !(option && marks.flag().is_some()) && !matches!(inner, Form::Tensor { .. }) {
        return Some(Kind::Config { default: marks.config_default() });
    }
    let flag = if option { marks.flag() } else { None };
    if marks.is_config() && flag.is_none() {
        check::config_flag(&marks.config_tokens(), diags);
    }
    match inner {
        Form::Tensor { state, shape, list } => {
            if option && !marks.is_config() {
                check::option_without_config(ty, diags);
            }
            let init = if state { marks.state() } else { marks.init() };
            if init.is_none() {
                if state { check::state_without_init(ty, diags) } else { check::param_without_init(ty, diags) }
            }
            Some(Kind::Tensor { state, shape, init: init.unwrap_or_else(|| quote!(zeros)), flag, list })
        }
        inner => {
            leaves.extend(inner.leaf());
            let init = marks.init_list(diags);
            let source = match (option, flag) {
                (true, None) => {
                    if !matches!(init, Init::None) {
                        check::option_without_config(ty, diags);
                    }
                    Source::Stored(Stored::Absent)
                }
                _ => source(inner, ty, init, true, diags)?,
            };
            Some(Kind::Layer { source, flag })
        }
    }
}

/// The syntactic form of a field's type.
#[allow(clippy::large_enum_variant, reason = "a model has few fields, and they live as long as its expansion")]
enum Form {
    /// Numbers, truth values and strings, and options, lists and tuples of them.
    Plain,
    Tensor {
        state: bool,
        shape: Vec<DimExpr>,
        list: Option<DimExpr>,
    },
    Layer(Layer),
    /// A type parameter.
    Generic,
    /// `Box<dyn Layer>`.
    Object,
    Option(Box<Form>),
    Vec(Box<Form>),
    Array(Box<Form>, DimExpr),
}

impl Form {
    /// The layer that it is, or a list or option of.
    fn leaf(&self) -> Option<Type> {
        match self {
            Form::Layer(layer) => Some(layer.ty.clone()),
            Form::Option(inner) | Form::Vec(inner) | Form::Array(inner, _) => inner.leaf(),
            Form::Plain | Form::Tensor { .. } | Form::Generic | Form::Object => None,
        }
    }
}

fn form(ty: &Type, generics: &Generics, diags: &mut Diags) -> Option<Form> {
    if is_plain(ty) {
        return Some(Form::Plain);
    }
    match ty {
        Type::Paren(inner) => form(&inner.elem, generics, diags),
        Type::Group(inner) => form(&inner.elem, generics, diags),
        Type::Macro(mac) => macro_form(ty, &mac.mac, diags),
        Type::Array(array) => {
            let length = syn::parse2::<DimExpr>(array.len.to_token_stream());
            if length.is_err() {
                check::list_length(&array.len, diags);
            }
            match (form(&array.elem, generics, diags)?, length.ok()?) {
                (Form::Generic, _) => {
                    check::generic_list(ty, diags);
                    None
                }
                (Form::Tensor { state, shape, list: None }, length) => {
                    Some(Form::Tensor { state, shape, list: Some(length) })
                }
                (inner, length) => Some(Form::Array(Box::new(inner), length)),
            }
        }
        Type::Path(path) if path.qself.is_none() => {
            let last = path.path.segments.last()?;
            let inner = match &last.arguments {
                PathArguments::AngleBracketed(args) => args.args.iter().find_map(|arg| match arg {
                    GenericArgument::Type(inner) => Some(inner),
                    _ => None,
                }),
                PathArguments::None | PathArguments::Parenthesized(_) => None,
            };
            match (last.ident.to_string().as_str(), inner) {
                ("Option", Some(inner)) => Some(Form::Option(Box::new(form(inner, generics, diags)?))),
                ("Vec", Some(inner)) => Some(Form::Vec(Box::new(form(inner, generics, diags)?))),
                ("Box", Some(Type::TraitObject(_))) => Some(Form::Object),
                ("Tensor" | "Param" | "State", _) => {
                    check::tensor_field(ty, diags);
                    None
                }
                _ if generics.type_params().any(|p| path.path.is_ident(&p.ident)) => Some(Form::Generic),
                _ => Some(Form::Layer(bare(ty))),
            }
        }
        other => Some(Form::Layer(bare(other))),
    }
}

fn bare(ty: &Type) -> Layer {
    Layer { ty: ty.clone(), args: vec![], variant: None, written: ty.to_token_stream() }
}

fn macro_form(ty: &Type, mac: &syn::Macro, diags: &mut Diags) -> Option<Form> {
    let name = dims::last_name(&mac.path)?;
    match name.as_str() {
        "Tensor" => {
            check::tensor_field(ty, diags);
            None
        }
        "Param" | "State" => {
            let result = syn::parse2::<TensorType>(mac.tokens.clone());
            let tensor = diags.take(result)?;
            if !tensor.is_float() || tensor.rest.is_some() {
                check::param_shape(ty, diags);
            }
            Some(Form::Tensor { state: name == "State", shape: tensor.dims, list: None })
        }
        _ => {
            let result = LayerType::of_macro(mac);
            let layer = diags.take(result)?;
            let path = syn::TypePath { attrs: vec![], qself: None, path: layer.path };
            Some(Form::Layer(Layer {
                ty: Type::Path(path),
                args: layer.args,
                variant: None,
                written: ty.to_token_stream(),
            }))
        }
    }
}

/// Whether a type is evidently config.
fn is_plain(ty: &Type) -> bool {
    const PLAIN: &[&str] = &[
        "bool", "char", "f32", "f64", "i8", "i16", "i32", "i64", "isize", "u8", "u16", "u32", "u64", "usize", "String",
    ];
    match ty {
        Type::Path(path) if path.qself.is_none() => {
            let Some(last) = path.path.segments.last() else { return false };
            match &last.arguments {
                PathArguments::None => PLAIN.iter().any(|name| last.ident == name),
                PathArguments::AngleBracketed(args) if last.ident == "Option" || last.ident == "Vec" => {
                    args.args.iter().all(|arg| matches!(arg, GenericArgument::Type(inner) if is_plain(inner)))
                }
                PathArguments::AngleBracketed(_) | PathArguments::Parenthesized(_) => false,
            }
        }
        Type::Tuple(tuple) => !tuple.elems.is_empty() && tuple.elems.iter().all(is_plain),
        Type::Array(array) => is_plain(&array.elem),
        Type::Paren(inner) => is_plain(&inner.elem),
        Type::Group(inner) => is_plain(&inner.elem),
        _ => false,
    }
}

/// Where the config of a layer comes from; at the `top` of a field it can be an entry of the model's own config.
fn source(form: Form, ty: &Type, init: Init, top: bool, diags: &mut Diags) -> Option<Source> {
    match form {
        Form::Array(inner, length) => Some(Source::Repeat(Box::new(source(*inner, ty, init, false, diags)?), length)),
        Form::Vec(inner) => {
            let items = match (*inner, init) {
                (Form::Object, Init::Layers(layers, _)) => layers.into_iter().map(Source::Object).collect(),
                (Form::Layer(_), Init::Layers(layers, _)) => layers.into_iter().map(Source::Given).collect(),
                (_, Init::None) => vec![],
                (_, Init::Layers(_, at) | Init::Arguments(_, at)) => {
                    check::init_of_layer(&at, diags);
                    return None;
                }
            };
            Some(Source::Stored(Stored::List(items)))
        }
        Form::Object => match init {
            Init::None => {
                check::object_without_init(ty, diags);
                None
            }
            Init::Arguments(_, at) => {
                check::init_of_layer(&at, diags);
                None
            }
            Init::Layers(layers, at) => {
                let object = Source::Object(single(layers, &at, diags)?);
                Some(if top { Source::Stored(Stored::One(Box::new(object))) } else { object })
            }
        },
        Form::Layer(mut layer) => {
            match init {
                Init::None => {}
                Init::Arguments(args, _) if layer.args.is_empty() => layer.args = args,
                Init::Arguments(_, at) => check::init_of_layer(&at, diags),
                Init::Layers(layers, at) => {
                    let given = single(layers, &at, diags)?;
                    let same = given.ty.to_token_stream().to_string() == layer.ty.to_token_stream().to_string();
                    if !layer.args.is_empty() || !same || given.variant.is_none() {
                        check::init_of_layer(&at, diags);
                        return None;
                    }
                    layer = given;
                }
            }
            Some(Source::Given(layer))
        }
        Form::Generic => {
            if let Init::Layers(_, at) | Init::Arguments(_, at) = init {
                check::init_of_layer(&at, diags);
            }
            Some(Source::Stored(Stored::Defaults))
        }
        Form::Option(_) | Form::Plain | Form::Tensor { .. } => {
            check::tensor_field(ty, diags);
            None
        }
    }
}

fn single(mut layers: Vec<Layer>, at: &TokenStream, diags: &mut Diags) -> Option<Layer> {
    if layers.len() != 1 {
        check::one_layer(at, diags);
        return None;
    }
    layers.pop()
}
