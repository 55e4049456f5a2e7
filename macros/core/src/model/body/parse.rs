//! Signatures: from the user's items to [`ast`](super::ast). Bodies stay as they are.

use super::ast::{Function, Impl, Kind, Output, Param, Part};
use super::{check, unpack};
use crate::diags::Diags;
use crate::dims::{self, TensorType};
use syn::spanned::Spanned;
use syn::visit_mut::VisitMut;
use syn::{Attribute, FnArg, ImplItem, ItemFn, ItemImpl, Pat, ReceiverKind, ReturnType, Signature, Type};

/// Reads a `#[model] impl`.
pub(super) fn impl_(mut item: ItemImpl, diags: &mut Diags) -> Impl {
    if let Some((path, _)) = &item.trait_ {
        check::trait_impl(path, diags);
    }
    check::without_body(&mut item.attrs, diags);
    let (mut functions, mut others) = (vec![], vec![]);
    let fuse = taken(&mut item.attrs, "no_fuse").is_none();
    for entry in std::mem::take(&mut item.items) {
        match entry {
            ImplItem::Fn(f) => {
                let function = function(f.attrs, f.vis, f.sig, f.block, false, diags);
                functions.push(Function { fuse: function.fuse && fuse, ..function });
            }
            other => others.push(other),
        }
    }
    Impl { item, functions, others }
}

/// Reads a free `#[model] fn`.
pub(super) fn free(item: ItemFn, diags: &mut Diags) -> Function {
    let function = function(item.attrs, item.vis, item.sig, *item.block, true, diags);
    if !function.output.active() {
        check::no_result(&function.sig.ident, diags);
    }
    function
}

fn function(
    mut attrs: Vec<Attribute>,
    vis: syn::Visibility,
    mut sig: Signature,
    mut block: syn::Block,
    free: bool,
    diags: &mut Diags,
) -> Function {
    let before = diags.len();
    check::without_body(&mut attrs, diags);
    let no_grad = taken(&mut attrs, "no_grad").is_some();
    let fuse = taken(&mut attrs, "no_fuse").is_none();
    let method = sig.receiver().is_some();
    let output = output(&sig.output, diags);
    let differentiable = !no_grad && (method || free) && output.active();
    let mut params = vec![];
    for input in &mut sig.inputs {
        match input {
            FnArg::Receiver(receiver) => {
                let shared = matches!(&receiver.kind, ReceiverKind::Reference(_, _, None));
                if differentiable && !shared {
                    check::moved_receiver(receiver, diags);
                }
            }
            FnArg::Typed(typed) => {
                let shape = tensor_type(&typed.ty, diags);
                let kind = kind(&typed.ty);
                if let Type::Reference(reference) = &*typed.ty
                    && differentiable
                    && kind_of_value(&reference.elem) == Kind::Active
                {
                    check::tensor_reference(&typed.ty, diags);
                }
                dims::strip_types(&mut typed.ty);
                match &*typed.pat {
                    Pat::Ident(p) if p.subpat.is_none() && p.by_ref.is_none() => {
                        params.push(Param { ident: p.ident.clone(), ty: (*typed.ty).clone(), kind, shape });
                    }
                    other if differentiable => check::parameter_pattern(other, diags),
                    _ => {}
                }
            }
        }
    }
    if let ReturnType::Type(_, ty) = &mut sig.output {
        dims::strip_types(ty);
    }
    if differentiable && method && cotangent_ir::op(&sig.ident.to_string(), true).is_some() {
        check::reserved_name(&sig.ident, diags);
    }
    let broken = diags.len() > before;
    match differentiable {
        true => {
            unpack::block(&mut block);
            check::syntax(&block, diags);
        }
        false => check::without_value(|marks| marks.visit_block_mut(&mut block), diags),
    }
    let cfgs = attrs.iter().filter(|a| a.path().is_ident("cfg")).cloned().collect();
    Function { attrs, cfgs, vis, sig, method, params, output, block, differentiable, fuse, broken }
}

/// Takes an attribute of that name away.
fn taken(attrs: &mut Vec<Attribute>, name: &str) -> Option<Attribute> {
    let at = attrs.iter().position(|a| a.path().is_ident(name))?;
    Some(attrs.remove(at))
}

fn output(ty: &ReturnType, diags: &mut Diags) -> Output {
    let ReturnType::Type(_, ty) = ty else {
        return Output { ty: syn::parse_quote!(()), parts: vec![], tuple: true };
    };
    let part = |ty: &Type, diags: &mut Diags| Part { kind: kind_of_value(ty), shape: tensor_type(ty, diags) };
    let (parts, tuple) = match &**ty {
        Type::Tuple(t) => (t.elems.iter().map(|e| part(e, diags)).collect(), true),
        other => (vec![part(other, diags)], false),
    };
    let mut stripped = (**ty).clone();
    dims::strip_types(&mut stripped);
    Output { ty: stripped, parts, tuple }
}

/// The annotation of a type that is one tensor.
fn tensor_type(ty: &Type, diags: &mut Diags) -> Option<TensorType> {
    match ty {
        Type::Macro(m) if m.mac.path.is_ident("Tensor") => match syn::parse2::<TensorType>(m.mac.tokens.clone()) {
            Ok(t) => Some(t),
            Err(error) => {
                let span = if m.mac.tokens.is_empty() { m.span() } else { error.span() };
                diags.error_at(span, error.to_string());
                None
            }
        },
        Type::Paren(p) => tensor_type(&p.elem, diags),
        Type::Group(g) => tensor_type(&g.elem, diags),
        _ => None,
    }
}

/// What a parameter of this type is.
fn kind(ty: &Type) -> Kind {
    match ty {
        Type::Reference(r) if matches!(&*r.elem, Type::Path(p) if p.path.segments.last().is_some_and(|s| s.ident == "Cx")) => {
            Kind::Context
        }
        other => kind_of_value(other),
    }
}

/// What a value of this type is: active where a float tensor is in it.
fn kind_of_value(ty: &Type) -> Kind {
    match ty {
        Type::Macro(m) if m.mac.path.is_ident("Tensor") => match syn::parse2::<TensorType>(m.mac.tokens.clone()) {
            Ok(t) if !t.is_float() => Kind::Tensor,
            _ => Kind::Active,
        },
        Type::Path(p) => {
            let Some(segment) = p.path.segments.last() else { return Kind::Plain };
            let inner = match &segment.arguments {
                syn::PathArguments::AngleBracketed(a) => a.args.iter().find_map(|a| match a {
                    syn::GenericArgument::Type(t) => Some(t),
                    _ => None,
                }),
                _ => None,
            };
            match (segment.ident.to_string().as_str(), inner) {
                ("Tensor", None) => Kind::Active,
                ("Tensor", Some(k)) if is_ident(k, "Float") => Kind::Active,
                ("Tensor", Some(_)) => Kind::Tensor,
                ("Vec" | "Option", Some(t)) if kind_of_value(t) == Kind::Active => Kind::Active,
                _ => Kind::Plain,
            }
        }
        Type::Tuple(t) if t.elems.iter().any(|e| kind_of_value(e) == Kind::Active) => Kind::Active,
        Type::Array(a) if kind_of_value(&a.elem) == Kind::Active => Kind::Active,
        Type::Paren(p) => kind_of_value(&p.elem),
        Type::Group(g) => kind_of_value(&g.elem),
        _ => Kind::Plain,
    }
}

fn is_ident(ty: &Type, name: &str) -> bool {
    matches!(ty, Type::Path(p) if p.path.is_ident(name))
}
