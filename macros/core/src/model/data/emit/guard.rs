//! User expressions over dims, made safe: a config may come from a file, and no number in it makes an expression
//! overflow or divide by zero without an error that says so.

use crate::model::data::ast::{Dim, DimDefault, Kind, Model};
use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use std::collections::BTreeSet;
use syn::visit_mut::{self, VisitMut};
use syn::{BinOp, Expr, Lit, parse_quote};

/// The expression with arithmetic on dims and whole numbers replaced by functions that raise.
pub(super) fn expression(model: &Model, expr: &Expr) -> Expr {
    let mut expr = expr.clone();
    Guard { model }.visit_expr_mut(&mut expr);
    expr
}

struct Guard<'a> {
    model: &'a Model,
}

impl Guard<'_> {
    fn is_dim(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Lit(literal) => matches!(literal.lit, Lit::Int(_)),
            Expr::Path(path) => self.model.dims.iter().any(|d| path.path.is_ident(&d.name)),
            Expr::Paren(inner) => self.is_dim(&inner.expr),
            Expr::Binary(binary) => {
                function(&binary.op).is_some() && self.is_dim(&binary.left) && self.is_dim(&binary.right)
            }
            _ => false,
        }
    }
}

impl VisitMut for Guard<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if let Expr::Binary(binary) = expr
            && self.is_dim(&binary.left)
            && self.is_dim(&binary.right)
            && let Some(function) = function(&binary.op)
        {
            let (mut left, mut right) = (Expr::clone(&binary.left), Expr::clone(&binary.right));
            self.visit_expr_mut(&mut left);
            self.visit_expr_mut(&mut right);
            *expr = parse_quote!(::cotangent::__private::extent::#function(#left, #right));
            return;
        }
        visit_mut::visit_expr_mut(self, expr);
    }
}

fn function(op: &BinOp) -> Option<TokenStream> {
    match op {
        BinOp::Add(_) => Some(quote!(add)),
        BinOp::Sub(_) => Some(quote!(sub)),
        BinOp::Mul(_) => Some(quote!(mul)),
        BinOp::Div(_) => Some(quote!(floor)),
        BinOp::Rem(_) => Some(quote!(rem)),
        _ => None,
    }
}

/// `let` bindings for the dims and config entries that some expressions mention.
pub(super) fn bindings(model: &Model, config: &TokenStream, expressions: &[TokenStream]) -> TokenStream {
    let mut used = BTreeSet::new();
    expressions.iter().for_each(|tokens| idents(tokens.clone(), &mut used));
    let dims = model.dims.iter().filter(|d| used.contains(&d.name.to_string())).map(|dim| {
        let (name, value) = (&dim.name, dim_value(dim, config));
        quote!(let #name = #value;)
    });
    // Whether there is a layer or a parameter is a setting under its name.
    let plain = model.fields.iter().filter(|f| match f.kind {
        Kind::Config { .. } => true,
        Kind::Layer { flag, .. } | Kind::Tensor { flag, .. } => flag.is_some(),
        Kind::Unit => false,
    });
    let plain = plain.filter(|f| used.contains(&f.ident.to_string())).map(|f| {
        let (cfgs, name) = (&f.cfgs, &f.ident);
        quote!(#(#cfgs)* let #name = ::core::clone::Clone::clone(&#config.#name);)
    });
    quote!(#(#dims)* #(#plain)*)
}

/// The value of a dim in a config.
pub(super) fn dim_value(dim: &Dim, config: &TokenStream) -> TokenStream {
    let name = &dim.name;
    match &dim.default {
        Some(DimDefault::Like(_, like)) => quote!(::cotangent::__private::extent::or(#config.#name, #config.#like)),
        Some(DimDefault::Number(_)) | None => quote!(#config.#name),
    }
}

/// All identifiers in some tokens.
pub(super) fn idents(tokens: TokenStream, into: &mut BTreeSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => {
                into.insert(ident.to_string());
            }
            TokenTree::Group(group) => idents(group.stream(), into),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

/// Tokens as a user reads them: `f(x).y`, not `f (x) . y`.
pub(super) fn said(tokens: &impl ToTokens) -> String {
    let text = tokens.to_token_stream().to_string();
    text.replace(" . ", ".").replace(" (", "(").replace(" ,", ",").replace(" :: ", "::")
}
