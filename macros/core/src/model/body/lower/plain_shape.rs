//! Shapes of tensors without a derivative: masks, indices, and what is made of them inside one expression.
//!
//! Such expressions are emitted as they are written, so that nothing names their parts; but each operation in them has
//! its rule, and a mistake its caret.

use super::expr::values;
use super::plain::{arithmetic, function};
use super::shape::{Asked, Known, is_number};
use super::{Binding, Lower};
use cotangent_ir::{Argument, Op, Output, op};
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::punctuated::Punctuated;
use syn::{BinOp, Expr, Token, UnOp};

/// An operation of an expression: what the shape engine is asked, where the caret goes, and the name in the message.
struct Step {
    asked: Asked,
    at: TokenStream,
    said: String,
}

impl Lower<'_, '_> {
    /// The constant of the shape of a tensor, proved to come about.
    pub(super) fn plain_shape(&mut self, expr: &Expr) -> Option<Ident> {
        match expr {
            Expr::Path(p) => match self.find(&p.path.get_ident()?.to_string())? {
                Binding::Tensor(_, shape) => shape.clone(),
                Binding::Active(var) => {
                    let value = self.current(*var)?;
                    match self.shapes.get(&value)? {
                        Known::Constant(name) => Some(name.clone()),
                        Known::Parts(_) => None,
                    }
                }
                Binding::Context | Binding::Dim | Binding::Place(_) | Binding::Plain => None,
            },
            Expr::Paren(p) => self.plain_shape(&p.expr),
            Expr::Group(g) => self.plain_shape(&g.expr),
            Expr::Reference(r) => self.plain_shape(&r.expr),
            Expr::MethodCall(m) if m.method == "clone" => self.plain_shape(&m.receiver),
            _ => {
                let Step { asked, at, said } = self.plain_step(expr)?;
                Some(self.proved(&asked, &at, &said))
            }
        }
    }

    /// The constants of the shapes of `count` tensors, the parts of one tuple.
    pub(super) fn plain_parts(&mut self, expr: &Expr, count: usize) -> Vec<Option<Ident>> {
        let Some(Step { asked, at, said }) = self.plain_step(expr) else { return vec![None; count] };
        let first = self.proved(&asked, &at, &said);
        let mut parts = vec![Some(first)];
        for part in 1..count {
            let (name, call) = (self.constant("S"), asked.output(part));
            self.prove(quote!(const #name: __Shape = #call.shape;));
            parts.push(Some(name));
        }
        parts
    }

    /// The operation that an expression is, if it is one.
    fn plain_step(&mut self, expr: &Expr) -> Option<Step> {
        match expr {
            Expr::MethodCall(m) => {
                let operation = op(&m.method.to_string(), true).filter(|o| o.output != Output::Value)?;
                let receiver = self.operand_of(&m.receiver);
                self.called(operation, vec![receiver], &m.args, &m.method)
            }
            Expr::Call(c) => {
                let Expr::Path(p) = &*c.func else { return None };
                let operation = function(&p.path)?;
                (operation.output == Output::Tensor).then_some(())?;
                self.called(operation, vec![], &c.args, &p.path)
            }
            Expr::Binary(b) => {
                let said = match &b.op {
                    BinOp::BitAnd(_) => "bitand",
                    BinOp::BitOr(_) => "bitor",
                    BinOp::BitXor(_) => "bitxor",
                    BinOp::Shl(_) => "shl",
                    BinOp::Shr(_) => "shr",
                    other => arithmetic(other)?.1,
                };
                let shapes = [self.operand_of(&b.left), self.operand_of(&b.right)];
                let asked = self.rule("broadcast", &shapes, &[]);
                Some(Step { asked, at: b.op.to_token_stream(), said: said.into() })
            }
            Expr::Unary(u) if matches!(u.op, UnOp::Not(_) | UnOp::Neg(_)) => {
                let shapes = [self.operand_of(&u.expr)];
                Some(Step { asked: self.rule("same", &shapes, &[]), at: u.op.to_token_stream(), said: "not".into() })
            }
            _ => None,
        }
    }

    fn called(
        &mut self,
        operation: &Op,
        mut shapes: Vec<TokenStream>,
        args: &Punctuated<Expr, Token![,]>,
        at: &impl ToTokens,
    ) -> Option<Step> {
        if operation.rule.is_empty() {
            return None;
        }
        for (at, arg) in args.iter().enumerate() {
            let operand = matches!(operation.arguments.get(at), Some(Argument::Operand | Argument::Tensor));
            if operand || self.active(arg) || self.gives_tensor(arg) {
                shapes.push(self.operand_of(arg));
            }
        }
        let plain = values(operation, args.iter());
        let asked = self.rule(operation.rule, &shapes, &plain);
        Some(Step { asked, at: at.to_token_stream(), said: operation.name.into() })
    }

    /// The shape of an operand.
    pub(super) fn operand_of(&mut self, expr: &Expr) -> TokenStream {
        if is_number(expr) {
            return quote!(__Shape::SCALAR);
        }
        match self.plain_shape(expr) {
            Some(shape) => quote!(#shape),
            None => quote!(__Shape::UNKNOWN),
        }
    }
}
