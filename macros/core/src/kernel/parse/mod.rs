//! From the user's tokens to [`ast`](super::ast): syntax alone. What is broken is reported, and a partial tree comes
//! out.

mod body;
mod expr;
mod literal;

use super::ast::{At, Kernel, Options, Out, Param, ParamKind, Vjp, text};
use super::check::signature as check;
use crate::diags::Diags;
use crate::dims::{TensorKind, TensorType, last_name};
use cotangent_ir::Kind;
use proc_macro2::{Ident, TokenStream};
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{FnArg, Item, ItemFn, Pat, Path, ReturnType, Signature, Token, Type, token};

/// Reads a `#[kernel(args)] fn`; nothing where there is no function, or where it is not known what it returns.
pub(super) fn kernel(args: TokenStream, item: TokenStream, diags: &mut Diags) -> Option<Kernel> {
    let options = options(args, diags);
    let result = syn::parse2::<Item>(item);
    let function = match diags.take(result)? {
        Item::Fn(function) => function,
        other => {
            check::wrong_item(&other, diags);
            return None;
        }
    };
    let ItemFn { attrs, vis, sig, block, .. } = function;
    check::plain_function(&sig, diags);
    let params = params(&sig, diags);
    let outs = outs(&sig.output, diags);
    // A raw body is code for the device, and not in this language.
    if options.raw.is_some() && !block.stmts.is_empty() {
        check::raw_body(&block, diags);
    }
    if let (None, Some(cpu)) = (options.raw, &options.cpu) {
        check::cpu_without_raw(cpu, diags);
    }
    let body = if options.raw.is_some() { body::empty(&block) } else { body::block(&block, diags) };
    Some(Kernel { name: sig.ident, attrs, vis, options, params, outs: outs?, body })
}

fn options(args: TokenStream, diags: &mut Diags) -> Options {
    let mut options = Options::default();
    let parser = |input: ParseStream<'_>| {
        while !input.is_empty() {
            let name: Ident = input.parse()?;
            match text(&name).as_str() {
                "raw" if options.raw.is_some() => check::option_twice(&name, diags),
                "raw" => options.raw = Some(name.span()),
                "unrounded" if options.unrounded.is_some() => check::option_twice(&name, diags),
                "unrounded" => options.unrounded = Some(name.span()),
                "vjp" => {
                    input.parse::<Token![=]>()?;
                    let path = Path::parse_mod_style(input)?;
                    let takes = input.peek(token::Paren).then(|| names(input)).transpose()?;
                    if options.vjp.replace(Vjp { path, takes }).is_some() {
                        check::option_twice(&name, diags);
                    }
                }
                "cpu" => {
                    input.parse::<Token![=]>()?;
                    if options.cpu.replace(Path::parse_mod_style(input)?).is_some() {
                        check::option_twice(&name, diags);
                    }
                }
                _ => {
                    check::unknown_option(&name, diags);
                    while !input.is_empty() && !input.peek(Token![,]) {
                        input.parse::<proc_macro2::TokenTree>()?;
                    }
                }
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(())
    };
    if let Err(error) = parser.parse2(args) {
        diags.push(error);
    }
    options
}

/// `(a, b)`.
fn names(input: ParseStream<'_>) -> syn::Result<Vec<Ident>> {
    let list;
    syn::parenthesized!(list in input);
    Ok(Punctuated::<Ident, Token![,]>::parse_terminated(&list)?.into_iter().collect())
}

fn params(sig: &Signature, diags: &mut Diags) -> Vec<Param> {
    let mut params: Vec<Param> = vec![];
    for input in &sig.inputs {
        let typed = match input {
            FnArg::Receiver(receiver) => {
                check::receiver(receiver, diags);
                continue;
            }
            FnArg::Typed(typed) => typed,
        };
        if let Some(attr) = typed.attrs.first() {
            check::parameter_attribute(attr, diags);
        }
        let ident = match &*typed.pat {
            Pat::Ident(p) => {
                if p.by_ref.is_some() || p.mutability.is_some() || p.subpat.is_some() {
                    check::parameter_pattern(&typed.pat, diags);
                }
                p.ident.clone()
            }
            other => {
                check::parameter_pattern(other, diags);
                continue;
            }
        };
        if params.iter().any(|p| text(&p.ident) == text(&ident)) {
            check::duplicate_parameter(&ident, diags);
            continue;
        }
        let (kind, by_mut) = param_type(&typed.ty, diags);
        params.push(Param { ident, kind, ty: (*typed.ty).clone(), by_mut });
    }
    params
}

/// The kind of a parameter of this type, and whether it is `&mut`.
fn param_type(ty: &Type, diags: &mut Diags) -> (ParamKind, bool) {
    match peel_type(ty) {
        Type::Reference(reference) => {
            let inner = peel_type(&reference.elem);
            if reference.mutability.is_some() && is_tensor(inner) {
                return (param_kind(inner, diags), true);
            }
            check::reference_parameter(reference, diags);
            // What the reference leads to is known all the same.
            let mut quiet = Diags::default();
            let kind = param_kind(inner, &mut quiet);
            let _ = quiet.gate();
            (kind, false)
        }
        other => (param_kind(other, diags), false),
    }
}

fn param_kind(ty: &Type, diags: &mut Diags) -> ParamKind {
    if let Type::Macro(mac) = ty
        && is_tensor(ty)
    {
        return tensor_type(&mac.mac, diags).map_or(ParamKind::Unknown, ParamKind::Tensor);
    }
    match scalar(ty) {
        Some("f32") => ParamKind::Scalar(Kind::Float),
        Some("f64") => ParamKind::Wide,
        Some("i64") => ParamKind::Scalar(Kind::Int),
        Some("bool") => ParamKind::Scalar(Kind::Bool),
        Some("usize") => ParamKind::Size,
        Some("Key") => ParamKind::Key,
        Some(_) | None => {
            check::unknown_type(ty, diags);
            ParamKind::Unknown
        }
    }
}

/// `Tensor![..]`, its kind and its dims.
fn tensor_type(mac: &syn::Macro, diags: &mut Diags) -> Option<TensorType> {
    match syn::parse2::<TensorType>(mac.tokens.clone()) {
        Ok(shape) => Some(shape),
        Err(error) => {
            let span = if mac.tokens.is_empty() { mac.span() } else { error.span() };
            diags.error_at(span, error.to_string());
            None
        }
    }
}

/// The results; nothing where one was reported.
fn outs(output: &ReturnType, diags: &mut Diags) -> Option<Vec<Out>> {
    let ReturnType::Type(_, ty) = output else { return Some(vec![]) };
    let outs: Vec<Option<Out>> = match peel_type(ty) {
        Type::Tuple(tuple) if tuple.elems.len() == 1 => {
            check::tuple_of_one(tuple, diags);
            return None;
        }
        Type::Tuple(tuple) => tuple.elems.iter().map(|ty| out(ty, diags)).collect(),
        other => vec![out(other, diags)],
    };
    outs.into_iter().collect()
}

fn out(ty: &Type, diags: &mut Diags) -> Option<Out> {
    let (ty, at) = (peel_type(ty), At::of(ty));
    if let Type::Macro(mac) = ty
        && is_tensor(ty)
    {
        let shape = tensor_type(&mac.mac, diags)?;
        return Some(Out { kind: element(shape.kind), shape: Some(shape), at });
    }
    let kind = match scalar(ty) {
        Some("f32") => Kind::Float,
        Some("i64") => Kind::Int,
        Some("bool") => Kind::Bool,
        Some(_) | None => {
            check::unknown_result(ty, diags);
            return None;
        }
    };
    Some(Out { kind, shape: None, at })
}

/// The kind of a tensor's elements.
pub(super) fn element(kind: TensorKind) -> Kind {
    match kind {
        TensorKind::Float => Kind::Float,
        TensorKind::Int => Kind::Int,
        TensorKind::Bool => Kind::Bool,
    }
}

fn is_tensor(ty: &Type) -> bool {
    matches!(ty, Type::Macro(mac) if last_name(&mac.mac.path).is_some_and(|name| name == "Tensor"))
}

/// The name of a scalar type, the paths of `std` included.
fn scalar(ty: &Type) -> Option<&'static str> {
    const NAMES: [&str; 6] = ["f32", "f64", "i64", "usize", "bool", "Key"];
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|s| path.qself.is_none() && s.arguments.is_none())?;
    NAMES.into_iter().find(|name| last.ident == name)
}

/// A type without the parentheses around it.
fn peel_type(ty: &Type) -> &Type {
    match ty {
        Type::Paren(inner) => peel_type(&inner.elem),
        Type::Group(inner) => peel_type(&inner.elem),
        other => other,
    }
}
