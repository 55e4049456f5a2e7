//! Which statements a kernel can compute, and which values are tensors for certain.

use crate::model::body::ast::{Function, Kind};
use crate::model::body::ir::{Call, Callee, Operand, Region, Stmt, Value};
use cotangent_ir::functions::Takes;
use cotangent_ir::{Function as Pointwise, Output, function, op};
use proc_macro2::TokenStream;
use std::collections::BTreeSet;
use syn::{Expr, Lit, UnOp};

/// What a statement computes.
#[derive(Clone, Copy)]
pub(super) enum Operation {
    /// A function of single elements.
    Elements(&'static Pointwise),
    /// A reduction along the last axis, or what is made of one.
    Rows(Rows),
}

/// Operations along rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rows {
    /// A row's sum, the axis kept.
    Sum,
    /// A row's mean, the axis kept.
    Mean,
    Softmax,
    LogSoftmax,
    /// Of a row, a weight, a bias, and a number that is added to the variance.
    LayerNorm,
}

impl Operation {
    /// What a statement computes, if a kernel can do that.
    pub(super) fn of(stmt: &Stmt, sure: &Sure) -> Option<Operation> {
        let Stmt::Call(call) = stmt else { return None };
        if call.boxed || !sure.0.contains(&call.value) {
            return None;
        }
        match &call.callee {
            Callee::Operator { name: "rem", .. } => function("remainder").map(Operation::Elements),
            Callee::Operator { name, .. } => function(name).map(Operation::Elements),
            Callee::Operation { name } => named(&name.to_string(), call),
            Callee::Layer { .. } | Callee::Function { .. } | Callee::Associated { .. } | Callee::Read { .. } => None,
        }
    }
}

fn named(name: &str, call: &Call) -> Option<Operation> {
    op(name, true).filter(|o| o.output == Output::Active)?;
    let last = || matches!(&call.args[..], [_, Operand::Plain(axis)] if literal(&axis.tokens) == Some(-1.0));
    let rows = match name {
        "sum_keepdim" if last() => Some(Rows::Sum),
        "mean_keepdim" if last() => Some(Rows::Mean),
        "softmax" if last() => Some(Rows::Softmax),
        "log_softmax" if last() => Some(Rows::LogSoftmax),
        "layer_norm" if call.args.len() == 4 => Some(Rows::LayerNorm),
        _ => None,
    };
    if rows.is_some() {
        return rows.map(Operation::Rows);
    }
    let f = function(if name == "softplus_with" { "softplus" } else { name })?;
    let fits = matches!(f.takes, Takes::Floats | Takes::Numbers)
        && (f.arity..=f.arity + f.numbers.len()).contains(&call.args.len());
    // The exponent decides how a power is computed, numbers as bounds have other slopes than tensors, and the dtype
    // decides what is put in the place of infinities.
    let tensor = |a: &Operand| matches!(a, Operand::Active { .. });
    let known = match name {
        "pow" | "powf" | "clamp" | "clamp_min" | "clamp_max" => {
            call.args[1..].iter().all(|a| tensor(a) || as_literal(a).is_some())
        }
        _ => name != "nan_to_num",
    };
    (fits && known).then_some(Operation::Elements(f))
}

/// The number that an operand is, where it is written out.
pub(super) fn as_literal(operand: &Operand) -> Option<f64> {
    match operand {
        Operand::Plain(code) => literal(&code.tokens),
        Operand::Active { .. } => None,
    }
}

/// The number that tokens write out.
pub(super) fn literal(tokens: &TokenStream) -> Option<f64> {
    fn number(expr: &Expr) -> Option<f64> {
        match expr {
            Expr::Lit(lit) => match &lit.lit {
                Lit::Float(f) if f.suffix() == "f32" => f.base10_parse::<f32>().ok().map(f64::from),
                Lit::Float(f) => f.base10_parse().ok(),
                Lit::Int(n) => n.base10_parse::<u32>().ok().map(f64::from),
                _ => None,
            },
            Expr::Unary(u) if matches!(u.op, UnOp::Neg(_)) => number(&u.expr).map(|n| -n),
            Expr::Paren(p) => number(&p.expr),
            Expr::Group(g) => number(&g.expr),
            _ => None,
        }
    }
    number(&syn::parse2(tokens.clone()).ok()?)
}

/// The values that are tensors whatever a field of the model is: a bare one may be a number, and so may what is computed
/// of such numbers alone.
pub(super) struct Sure(BTreeSet<Value>);

impl Sure {
    /// Those of a body.
    pub(super) fn of(function: &Function, params: &[Option<Value>], region: &Region) -> Sure {
        let tensor = |p: &crate::model::body::ast::Param| p.kind == Kind::Active && is_tensor(&p.ty);
        let given = function.params.iter().zip(params).filter(|(p, _)| tensor(p));
        let mut sure = Sure(given.filter_map(|(_, value)| *value).collect());
        sure.region(region);
        sure
    }

    fn is(&self, operand: &Operand) -> bool {
        matches!(operand, Operand::Active { value, .. } if self.0.contains(value))
    }

    fn region(&mut self, region: &Region) {
        region.stmts.iter().for_each(|s| self.stmt(s));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Plain(_) | Stmt::Move { .. } | Stmt::Fused(_) => {}
            Stmt::Call(call) => {
                let sure = match &call.callee {
                    Callee::Read { .. } => false,
                    Callee::Operator { .. } => call.args.iter().any(|a| self.is(a)),
                    Callee::Operation { name } => {
                        // Numbers have methods of these names too.
                        function(&name.to_string()).is_none() || call.args.first().is_some_and(|a| self.is(a))
                    }
                    Callee::Layer { .. } | Callee::Function { .. } | Callee::Associated { .. } => true,
                };
                if sure {
                    self.0.insert(call.value);
                }
            }
            Stmt::Unpack { from, parts } => {
                if self.is(from) {
                    self.0.extend(parts.iter().filter_map(|(_, value)| *value));
                }
            }
            Stmt::Pack { value, parts, .. } => {
                if parts.iter().all(|p| self.is(p)) {
                    self.0.insert(*value);
                }
            }
            Stmt::Push { before, after, item, .. } => {
                if self.0.contains(before) && self.is(item) {
                    self.0.insert(*after);
                }
            }
            Stmt::Pop { before, after, value, .. } => {
                if self.0.contains(before) {
                    self.0.extend([*after, *value]);
                }
            }
            Stmt::Element { of, value, .. } | Stmt::Part { of, value, .. } => {
                if self.0.contains(of) {
                    self.0.insert(*value);
                }
            }
            Stmt::For(f) => {
                let known: Vec<_> = f.carried.iter().filter(|c| self.0.contains(&c.before)).collect();
                self.0.extend(known.iter().flat_map(|c| [c.start, c.after]));
                self.region(&f.body);
            }
            Stmt::Branch(branch) => {
                branch.arms.iter().for_each(|arm| self.region(&arm.region));
                for phi in &branch.phis {
                    if phi.arms.iter().flatten().any(|v| self.0.contains(v)) {
                        self.0.insert(phi.out);
                    }
                }
            }
        }
    }
}

fn is_tensor(ty: &syn::Type) -> bool {
    matches!(ty, syn::Type::Path(p) if p.path.segments.last().is_some_and(|s| s.ident == "Tensor"))
}
