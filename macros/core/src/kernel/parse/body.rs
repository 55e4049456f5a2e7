//! Blocks, statements and closures.

use super::super::ast::{At, Block, Closure, Expr, LetType, Node, Operator, Pattern, Stmt};
use super::super::check::syntax as check;
use super::expr::{self, Depth};
use super::peel_type;
use crate::diags::Diags;
use proc_macro2::Ident;
use syn::{BinOp, Pat, ReturnType, Type};

/// The body of a kernel.
pub(super) fn block(block: &syn::Block, diags: &mut Diags) -> Block {
    nested_block(block, Depth::default(), diags)
}

/// A block without anything in it.
pub(super) fn empty(block: &syn::Block) -> Block {
    Block { stmts: vec![], tail: None, end: block.brace_token.span.close() }
}

pub(super) fn nested_block(block: &syn::Block, depth: Depth, diags: &mut Diags) -> Block {
    let (mut stmts, mut tail) = (vec![], None);
    let last = block.stmts.len().saturating_sub(1);
    for (at, stmt) in block.stmts.iter().enumerate() {
        match stmt {
            syn::Stmt::Local(local) => stmts.extend(let_(local, depth, diags)),
            syn::Stmt::Expr(e, None) if at == last => match assignment(e, depth, diags) {
                Some(stmt) => stmts.push(stmt),
                None => tail = Some(Box::new(expr::expr(e, depth, diags))),
            },
            syn::Stmt::Expr(e, _) => match assignment(e, depth, diags) {
                Some(stmt) => stmts.push(stmt),
                None if expr::is_control_flow(e) => {
                    let value = expr::expr(e, depth, diags);
                    // That the block has no value is no mistake of its own where a mistake ends it.
                    if at == last && matches!(value.node, Node::Broken) {
                        tail = Some(Box::new(value));
                    }
                }
                None => check::no_effect(e, diags),
            },
            syn::Stmt::Item(item) => check::item(item, diags),
            syn::Stmt::Macro(mac) => check::macro_call(&mac.mac, diags),
        }
    }
    Block { stmts, tail, end: block.brace_token.span.close() }
}

fn let_(local: &syn::Local, depth: Depth, diags: &mut Diags) -> Option<Stmt> {
    if let Some(attr) = local.attrs.first() {
        check::attribute(attr, diags);
    }
    let (pattern, ty) = match &local.pat {
        Pat::Type(typed) => (pattern(&typed.pat, diags), let_type(&typed.ty, diags)),
        other => (pattern(other, diags), LetType::Any),
    };
    let Some(init) = &local.init else {
        check::let_without_value(local, diags);
        return None;
    };
    if let Some((token, _)) = &init.diverge {
        check::let_else(token, diags);
    }
    Some(Stmt::Let { pattern, ty, value: expr::expr(&init.expr, depth, diags) })
}

fn let_type(ty: &Type, diags: &mut Diags) -> LetType {
    match peel_type(ty) {
        Type::Infer(_) => LetType::Any,
        Type::Tuple(tuple) => LetType::Tuple(tuple.elems.iter().map(|ty| let_type(ty, diags)).collect()),
        other => match expr::scalar_kind(other) {
            Some(kind) => LetType::One(kind),
            None => {
                check::let_type(other, diags);
                LetType::Any
            }
        },
    }
}

fn pattern(pat: &Pat, diags: &mut Diags) -> Pattern {
    match pat {
        Pat::Ident(p) if p.by_ref.is_none() && p.subpat.is_none() => {
            if let Some(token) = &p.mutability {
                check::let_mut(token, diags);
            }
            Pattern::Name(p.ident.clone())
        }
        Pat::Tuple(tuple) => Pattern::Tuple(tuple.elems.iter().map(|p| pattern(p, diags)).collect(), At::of(tuple)),
        Pat::Paren(inner) => pattern(&inner.pat, diags),
        Pat::Wild(_) => Pattern::Ignored,
        other => {
            check::pattern(other, diags);
            Pattern::Ignored
        }
    }
}

fn assignment(e: &syn::Expr, depth: Depth, diags: &mut Diags) -> Option<Stmt> {
    let (target, operator, value) = match e {
        syn::Expr::Assign(assign) => (&assign.left, None, &assign.right),
        syn::Expr::Binary(binary) => (&binary.left, Some((compound(&binary.op)?, At::of(&binary.op))), &binary.right),
        _ => return None,
    };
    if let Some(attr) = expr::attributes(e).first() {
        check::attribute(attr, diags);
    }
    let (target, value) = (expr::expr(target, depth, diags), expr::expr(value, depth, diags));
    Some(Stmt::Assign { target, operator, value })
}

/// The operator in `a += b`.
fn compound(op: &BinOp) -> Option<Operator> {
    Some(match op {
        BinOp::AddAssign(_) => Operator::Add,
        BinOp::SubAssign(_) => Operator::Sub,
        BinOp::MulAssign(_) => Operator::Mul,
        BinOp::DivAssign(_) => Operator::Div,
        BinOp::RemAssign(_) => Operator::Rem,
        BinOp::BitAndAssign(_) => Operator::BitAnd,
        BinOp::BitOrAssign(_) => Operator::BitOr,
        BinOp::BitXorAssign(_) => Operator::BitXor,
        BinOp::ShlAssign(_) => Operator::Shl,
        BinOp::ShrAssign(_) => Operator::Shr,
        _ => return None,
    })
}

/// The name that a pattern binds, if it is one name with something around it.
fn named(pat: &Pat) -> Option<Ident> {
    match pat {
        Pat::Ident(p) => Some(p.ident.clone()),
        Pat::Type(typed) => named(&typed.pat),
        Pat::Reference(inner) => named(&inner.pat),
        Pat::Paren(inner) => named(&inner.pat),
        _ => None,
    }
}

/// A closure over indices.
pub(super) fn closure(closure: &syn::ExprClosure, depth: Depth, diags: &mut Diags) -> Node {
    let extras = [
        closure.attrs.first().map(At::of),
        closure.lifetimes.as_ref().map(At::of),
        closure.constness.as_ref().map(At::of),
        closure.asyncness.as_ref().map(At::of),
        closure.capture.as_ref().map(At::of),
        if let ReturnType::Type(arrow, _) = &closure.output { Some(At::of(arrow)) } else { None },
    ];
    extras.into_iter().flatten().for_each(|at| check::plain_closure(&at, diags));
    let mut params = vec![];
    for pat in &closure.inputs {
        params.push(match pat {
            Pat::Ident(p) if p.by_ref.is_none() && p.subpat.is_none() && p.mutability.is_none() => {
                Some(p.ident.clone())
            }
            Pat::Wild(_) => None,
            other => {
                check::index_pattern(other, diags);
                named(other)
            }
        });
    }
    let head = At { first: closure.inputs_begin.span, last: closure.inputs_end.span };
    // `|i| w[i] = 0.0` is `|i| { w[i] = 0.0; }`.
    let body = match assignment(&closure.body, depth, diags) {
        Some(stmt) => {
            let at = At::of(&closure.body);
            Expr { node: Node::Block(Block { stmts: vec![stmt], tail: None, end: at.last }), at }
        }
        None => expr::expr(&closure.body, depth, diags),
    };
    Node::Closure(Box::new(Closure { params, head, body }))
}
