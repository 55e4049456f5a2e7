//! Expressions.

use super::super::ast::{At, Expr, Node, Operator};
use super::super::check::syntax as check;
use super::{body, literal, peel_type};
use crate::diags::Diags;
use cotangent_ir::Kind;
use syn::spanned::Spanned;
use syn::{Attribute, BinOp, Type, UnOp};

/// How deep expressions may be nested: what walks them recurses.
const DEPTH: u32 = 128;

/// How deep an expression is nested.
#[derive(Clone, Copy, Default)]
pub(super) struct Depth(u32);

/// Reads an expression.
pub(super) fn expr(e: &syn::Expr, depth: Depth, diags: &mut Diags) -> Expr {
    let at = At::of(e);
    if let Some(attr) = attributes(e).first() {
        check::attribute(attr, diags);
    }
    let leaf = matches!(e, syn::Expr::Lit(_) | syn::Expr::Path(_));
    if depth.0 == DEPTH && !leaf {
        check::too_deep(&at, DEPTH, diags);
        return Expr { node: Node::Broken, at };
    }
    Expr { node: node(e, Depth(depth.0 + 1), diags), at }
}

fn boxed(e: &syn::Expr, depth: Depth, diags: &mut Diags) -> Box<Expr> {
    Box::new(expr(e, depth, diags))
}

fn list<'a>(es: impl IntoIterator<Item = &'a syn::Expr>, depth: Depth, diags: &mut Diags) -> Vec<Expr> {
    es.into_iter().map(|e| expr(e, depth, diags)).collect()
}

fn node(e: &syn::Expr, depth: Depth, diags: &mut Diags) -> Node {
    match e {
        syn::Expr::Lit(lit) => literal::literal(&lit.lit, false, diags),
        syn::Expr::Path(path) if path.qself.is_none() => match path.path.get_ident() {
            Some(name) => Node::Name(name.clone()),
            None => literal::constant(&path.path, diags),
        },
        syn::Expr::Paren(inner) => node(&inner.expr, depth, diags),
        syn::Expr::Group(inner) => node(&inner.expr, depth, diags),
        syn::Expr::Unary(unary) => unary_node(unary, depth, diags),
        syn::Expr::Binary(binary) => binary_node(binary, depth, diags),
        syn::Expr::If(branch) => if_node(branch, depth, diags),
        syn::Expr::Cast(cast) => match scalar_kind(&cast.ty) {
            Some(Kind::Bool) => {
                check::cast_to_bool(&cast.ty, diags);
                Node::Broken
            }
            Some(kind) => Node::Cast(boxed(&cast.expr, depth, diags), kind),
            None => {
                check::cast_type(&cast.ty, diags);
                Node::Broken
            }
        },
        syn::Expr::Call(call) => match peel(&call.func) {
            syn::Expr::Path(path) if path.qself.is_none() => {
                check::no_turbofish(&path.path, diags);
                Node::Call(path.path.clone(), list(&call.args, depth, diags))
            }
            other => {
                check::callee(other, diags);
                Node::Broken
            }
        },
        syn::Expr::MethodCall(call) => {
            if let Some(turbofish) = &call.turbofish {
                check::turbofish(turbofish, diags);
            }
            Node::Method(call.method.clone(), list([&*call.receiver].into_iter().chain(&call.args), depth, diags))
        }
        syn::Expr::Index(index) => index_node(index, depth, diags),
        syn::Expr::Tuple(tuple) => Node::Tuple(list(&tuple.elems, depth, diags)),
        syn::Expr::Block(block) if block.label.is_none() => Node::Block(body::nested_block(&block.block, depth, diags)),
        syn::Expr::Closure(closure) => body::closure(closure, depth, diags),
        syn::Expr::Range(range) => range_node(range, depth, diags),
        other => {
            unsupported(other, diags);
            Node::Broken
        }
    }
}

fn unary_node(unary: &syn::ExprUnary, depth: Depth, diags: &mut Diags) -> Node {
    match &unary.op {
        UnOp::Neg(_) => {
            if let syn::Expr::Lit(lit) = peel(&unary.expr) {
                return literal::literal(&lit.lit, true, diags);
            }
            Node::Neg(boxed(&unary.expr, depth, diags))
        }
        UnOp::Not(_) => Node::Not(boxed(&unary.expr, depth, diags)),
        other => {
            check::unsupported(other, diags);
            Node::Broken
        }
    }
}

fn binary_node(binary: &syn::ExprBinary, depth: Depth, diags: &mut Diags) -> Node {
    let operator = match &binary.op {
        BinOp::Add(_) => Operator::Add,
        BinOp::Sub(_) => Operator::Sub,
        BinOp::Mul(_) => Operator::Mul,
        BinOp::Div(_) => Operator::Div,
        BinOp::Rem(_) => Operator::Rem,
        BinOp::And(_) => Operator::And,
        BinOp::Or(_) => Operator::Or,
        BinOp::BitAnd(_) => Operator::BitAnd,
        BinOp::BitOr(_) => Operator::BitOr,
        BinOp::BitXor(_) => Operator::BitXor,
        BinOp::Shl(_) => Operator::Shl,
        BinOp::Shr(_) => Operator::Shr,
        BinOp::Eq(_) => Operator::Eq,
        BinOp::Ne(_) => Operator::Ne,
        BinOp::Lt(_) => Operator::Lt,
        BinOp::Le(_) => Operator::Le,
        BinOp::Gt(_) => Operator::Gt,
        BinOp::Ge(_) => Operator::Ge,
        other => {
            check::assignment_as_value(other, diags);
            return Node::Broken;
        }
    };
    let (left, right) = (boxed(&binary.left, depth, diags), boxed(&binary.right, depth, diags));
    Node::Binary(operator, At::of(&binary.op), left, right)
}

fn if_node(branch: &syn::ExprIf, depth: Depth, diags: &mut Diags) -> Node {
    let condition = match &*branch.cond {
        syn::Expr::Let(e) => {
            check::if_let(&e.let_token, diags);
            None
        }
        other => Some(boxed(other, depth, diags)),
    };
    let then = body::nested_block(&branch.then_branch, depth, diags);
    let Some((_, other)) = &branch.else_branch else {
        check::if_without_else(&branch.if_token, diags);
        return Node::Broken;
    };
    let other = boxed(other, depth, diags);
    condition.map_or(Node::Broken, |condition| Node::If(condition, then, other))
}

/// `x[i][j]`, as one load.
fn index_node(index: &syn::ExprIndex, depth: Depth, diags: &mut Diags) -> Node {
    let (mut places, mut base) = (vec![], peel(&index.expr));
    let mut next = &*index.index;
    loop {
        match next {
            syn::Expr::Range(range) => {
                check::slice(range, diags);
                places.push(Expr { node: Node::Broken, at: At::of(next) });
            }
            syn::Expr::Tuple(tuple) => {
                check::tuple_index(tuple, diags);
                places.push(Expr { node: Node::Broken, at: At::of(next) });
            }
            place => places.push(expr(place, depth, diags)),
        }
        match base {
            syn::Expr::Index(inner) => (base, next) = (peel(&inner.expr), &inner.index),
            syn::Expr::Path(path) if path.qself.is_none() && path.path.get_ident().is_some() => break,
            other => {
                check::indexed_expression(other, diags);
                return Node::Broken;
            }
        }
    }
    places.reverse();
    match base {
        syn::Expr::Path(path) => path.path.get_ident().map_or(Node::Broken, |name| Node::Index(name.clone(), places)),
        _ => Node::Broken,
    }
}

/// `0..n`; any other range is not one of indices.
fn range_node(range: &syn::ExprRange, depth: Depth, diags: &mut Diags) -> Node {
    match (&range.start, &range.limits, &range.end) {
        (Some(start), syn::RangeLimits::HalfOpen(_), Some(end)) => {
            Node::Range(boxed(start, depth, diags), boxed(end, depth, diags))
        }
        (_, _, _) => {
            check::range_form(range, diags);
            Node::Broken
        }
    }
}

/// An expression without what a `macro_rules!` puts around its arguments.
fn peel(e: &syn::Expr) -> &syn::Expr {
    if let syn::Expr::Group(inner) = e { peel(&inner.expr) } else { e }
}

/// The attributes on an expression that a kernel may have.
pub(super) fn attributes(e: &syn::Expr) -> &[Attribute] {
    match e {
        syn::Expr::Assign(e) => &e.attrs,
        syn::Expr::Binary(e) => &e.attrs,
        syn::Expr::Block(e) => &e.attrs,
        syn::Expr::Call(e) => &e.attrs,
        syn::Expr::Cast(e) => &e.attrs,
        syn::Expr::If(e) => &e.attrs,
        syn::Expr::Index(e) => &e.attrs,
        syn::Expr::Lit(e) => &e.attrs,
        syn::Expr::MethodCall(e) => &e.attrs,
        syn::Expr::Paren(e) => &e.attrs,
        syn::Expr::Path(e) => &e.attrs,
        syn::Expr::Range(e) => &e.attrs,
        syn::Expr::Tuple(e) => &e.attrs,
        syn::Expr::Unary(e) => &e.attrs,
        _ => &[],
    }
}

/// The kind of a scalar type in a `let` or an `as`.
pub(super) fn scalar_kind(ty: &Type) -> Option<Kind> {
    let Type::Path(path) = peel_type(ty) else { return None };
    match path.path.get_ident()?.to_string().as_str() {
        "f32" => Some(Kind::Float),
        "i64" | "usize" => Some(Kind::Int),
        "bool" => Some(Kind::Bool),
        _ => None,
    }
}

/// Whether an expression is a statement of Rust that kernels do not have.
pub(super) fn is_control_flow(e: &syn::Expr) -> bool {
    matches!(
        e,
        syn::Expr::While(_)
            | syn::Expr::Loop(_)
            | syn::Expr::ForLoop(_)
            | syn::Expr::Return(_)
            | syn::Expr::Break(_)
            | syn::Expr::Continue(_)
            | syn::Expr::Match(_)
            | syn::Expr::Unsafe(_)
            | syn::Expr::Async(_)
            | syn::Expr::Try(_)
            | syn::Expr::If(_)
            | syn::Expr::Await(_)
    )
}

fn unsupported(e: &syn::Expr, diags: &mut Diags) {
    match e {
        syn::Expr::While(e) => check::loops(e.while_token.span(), "while", diags),
        syn::Expr::Loop(e) => check::loops(e.loop_token.span(), "loop", diags),
        syn::Expr::ForLoop(e) => check::loops(e.for_token.span(), "for", diags),
        syn::Expr::Return(e) => check::early_exit(e.return_token.span(), "return", diags),
        syn::Expr::Try(e) => check::early_exit(e.question_token.span(), "?", diags),
        syn::Expr::Break(e) => check::early_exit(e.break_token.span(), "break", diags),
        syn::Expr::Continue(e) => check::early_exit(e.continue_token.span(), "continue", diags),
        syn::Expr::Match(e) => check::match_(&e.match_token, diags),
        syn::Expr::Unsafe(e) => check::unsafe_block(&e.unsafe_token, diags),
        syn::Expr::Async(e) => check::async_block(&e.async_token, diags),
        syn::Expr::Await(e) => check::async_block(&e.await_token, diags),
        syn::Expr::Macro(e) => check::macro_call(&e.mac, diags),
        syn::Expr::Assign(e) => check::assignment_as_value(&e.eq_token, diags),
        other => check::unsupported(other, diags),
    }
}
