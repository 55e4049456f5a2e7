//! Expressions: every active call becomes a statement of its own.

use super::checkpoint;
use super::plain::{arithmetic, function, is_self, list_elements, operation_names};
use super::{Binding, Lower, Lowered};
use crate::hygiene;
use crate::model::body::check;
use crate::model::body::ir::{Call, Callee, Declare, Operand, Plain, Stmt, Var};
use cotangent_ir::{Argument, Op, op};
use proc_macro2::Ident;
use quote::quote;
use syn::{Expr, ExprCall, ExprMethodCall};

/// The functions that take a list of tensors.
const LISTS: &[&str] = &["cat", "einsum", "stack", "hstack", "vstack", "meshgrid"];

/// The arguments of an operation that are no tensors.
pub(super) fn values<'e>(operation: &Op, args: impl Iterator<Item = &'e Expr>) -> Vec<&'e Expr> {
    let tensor = |at: usize| matches!(operation.arguments.get(at), Some(Argument::Operand | Argument::Tensor));
    args.enumerate().filter(|(at, _)| !tensor(*at)).map(|(_, arg)| arg).collect()
}

impl Lower<'_, '_> {
    /// Lowers an expression; the result is plain where it carries no derivative.
    pub(super) fn expr(&mut self, expr: &Expr) -> Lowered {
        if !self.active(expr) && !self.is_place(expr) {
            let tensor = self.gives_tensor(expr);
            let shape = if tensor { self.plain_shape(expr) } else { None };
            return Lowered::Plain(self.plain(expr), tensor, shape);
        }
        if let Expr::MethodCall(ExprMethodCall { attrs, .. }) | Expr::Call(ExprCall { attrs, .. }) = expr
            && let Some(attr) = checkpoint::mark(attrs)
        {
            return self.checkpointed_call(attr, expr);
        }
        match expr {
            Expr::Path(p) => match p.path.get_ident().and_then(|i| self.find(&i.to_string()).cloned()) {
                Some(Binding::Active(var)) => match self.current(var) {
                    Some(value) => Lowered::Active(value, var),
                    None => self.fail(expr),
                },
                Some(Binding::Place(place)) => Lowered::Place(place),
                _ => self.fail(expr),
            },
            Expr::Field(_) if self.is_place(expr) => match self.place(expr) {
                Some(place) => Lowered::Place(place),
                None => self.fail(expr),
            },
            Expr::Index(i) => match self.list_var(&i.expr) {
                Some(list) => self.element(list, &i.index),
                None => match self.place(expr) {
                    Some(place) => Lowered::Place(place),
                    None => self.fail(expr),
                },
            },
            Expr::Paren(p) => self.expr(&p.expr),
            Expr::Group(g) => self.expr(&g.expr),
            Expr::Reference(r) => self.expr(&r.expr),
            Expr::MethodCall(m) => {
                let lowered = self.method(m);
                self.boxed(&m.attrs, lowered)
            }
            Expr::Call(c) => {
                let lowered = self.free_call(c);
                self.boxed(&c.attrs, lowered)
            }
            Expr::Field(f) if self.list_var(&f.base).is_some() => self.part(f),
            Expr::Binary(b) => self.binary(b),
            Expr::Unary(u) => match u.op {
                syn::UnOp::Neg(token) => {
                    let name = Ident::new("neg", syn::spanned::Spanned::span(&token));
                    let receiver = self.value_of(&u.expr);
                    self.operation(op("neg", true), name, vec![receiver], &[])
                }
                syn::UnOp::Deref(_) => self.expr(&u.expr),
                _ => self.fail(expr),
            },
            Expr::Tuple(t) => self.pack(t.elems.iter(), false),
            Expr::Array(a) => self.pack(a.elems.iter(), true),
            Expr::Macro(m) => match list_elements(&m.mac) {
                Some(elements) => self.pack(elements.iter(), true),
                None => {
                    check::macro_value(m, self.diags);
                    self.nothing()
                }
            },
            Expr::If(_) | Expr::Match(_) | Expr::Block(_) => match self.branch(expr, true) {
                Some(lowered) => lowered,
                None => self.nothing(),
            },
            _ => self.fail(expr),
        }
    }

    /// The call that was emitted last, with its pullback in a box where `#[boxed]` asks for it. The function's call of
    /// itself must ask.
    fn boxed(&mut self, attrs: &[syn::Attribute], lowered: Lowered) -> Lowered {
        let asked = attrs.iter().find(|a| a.path().is_ident("boxed"));
        let made = match &lowered {
            Lowered::Active(_, var) => Some(*var),
            Lowered::Plain(..) | Lowered::Place(_) => None,
        };
        let last = self.regions.last_mut().and_then(|r| r.last_mut());
        let Some(call) = last.and_then(|s| s.call_mut()).filter(|c| Some(c.var) == made) else {
            asked.into_iter().for_each(|attr| check::boxed_without_call(attr, self.diags));
            return lowered;
        };
        call.boxed = asked.is_some();
        let name = self.name;
        let recursive = match &call.callee {
            Callee::Layer { place, name: method } if place.steps.is_empty() => Some(method).filter(|m| name == Some(m)),
            Callee::Function { path } => path.get_ident().filter(|f| name == Some(f)),
            Callee::Layer { .. }
            | Callee::Operation { .. }
            | Callee::Operator { .. }
            | Callee::Associated { .. }
            | Callee::Read { .. } => None,
        };
        if let Some(callee) = recursive.filter(|_| asked.is_none()) {
            check::recursion(callee, self.diags);
        }
        lowered
    }

    /// `tuple.0`.
    fn part(&mut self, field: &syn::ExprField) -> Lowered {
        let (Some(tuple), syn::Member::Unnamed(at)) = (self.list_var(&field.base), &field.member) else {
            check::unsupported(field, self.diags);
            return self.nothing();
        };
        let Some(of) = self.current(tuple) else { return self.nothing() };
        let value = self.value();
        let var = self.temp(Some(value));
        self.part_shape(of, at.index as usize, value);
        self.emit(Stmt::Part { tuple, of, at: at.clone(), var, value });
        Lowered::Active(value, var)
    }

    fn fail(&mut self, expr: &Expr) -> Lowered {
        check::unsupported(expr, self.diags);
        self.nothing()
    }

    pub(super) fn nothing(&mut self) -> Lowered {
        Lowered::Plain(Plain { tokens: quote!(()), uses: vec![] }, false, None)
    }

    /// An expression as an operand.
    pub(super) fn value_of(&mut self, expr: &Expr) -> Operand {
        let lowered = self.expr(expr);
        written(expr, self.operand(lowered))
    }

    /// Emits a call and gives its result.
    pub(super) fn call(&mut self, callee: Callee, args: Vec<Operand>) -> (crate::model::body::ir::Value, Var) {
        let value = self.value();
        let var = self.temp(Some(value));
        self.emit(Stmt::Call(Call { callee, args, var, declare: Declare::Let, value, boxed: false }));
        (value, var)
    }

    fn binary(&mut self, b: &syn::ExprBinary) -> Lowered {
        let Some((trait_, name)) = arithmetic(&b.op) else {
            check::unsupported(b, self.diags);
            return self.nothing();
        };
        let (left, right) = (self.shaped(&b.left), self.shaped(&b.right));
        let token = &b.op;
        let shapes = vec![left.1, right.1];
        let callee = Callee::Operator { token: quote!(#token), name, trait_ };
        let (value, var) = self.call(callee, vec![left.0, right.0]);
        self.rule_shape(value, "broadcast", token, name, shapes, &[]);
        Lowered::Active(value, var)
    }

    fn method(&mut self, m: &ExprMethodCall) -> Lowered {
        let name = m.method.to_string();
        let operation = op(&name, true);
        if name == "clone" && m.args.is_empty() {
            return self.expr(&m.receiver);
        }
        if is_self(&m.receiver) && self.context.plain_methods.contains(&name) {
            check::cut_by_no_grad(&m.method, self.diags);
            return self.nothing();
        }
        if self.is_place(&m.receiver) && (operation.is_none() || is_self(&m.receiver)) {
            return self.layer_call(m);
        }
        if !self.active(&m.receiver) && !self.is_place(&m.receiver) {
            check::unsupported(m, self.diags);
            return self.nothing();
        }
        if (name == "unwrap" || name == "expect")
            && let Expr::MethodCall(pop) = &*m.receiver
            && pop.method == "pop"
            && let Some(list) = self.list_var(&pop.receiver)
        {
            let (method, args) = (&m.method, &m.args);
            return self.pop(list, quote!(.#method(#args)));
        }
        let Some(operation) = operation else {
            self.expr(&m.receiver);
            check::unknown_operation(&m.method, &operation_names(), self.diags);
            return self.nothing();
        };
        check::arity(&m.method, operation, m.args.len(), self.diags);
        if matches!(operation.rule, "reshape" | "expand") {
            m.args.iter().for_each(|shape| check::negative_extent(shape, &name, self.diags));
        }
        let receiver = self.shaped(&m.receiver);
        let mut operands = vec![receiver.0];
        let mut shapes = vec![receiver.1];
        self.arguments(operation, m.args.iter(), &mut operands, &mut shapes);
        let plain = values(operation, m.args.iter());
        let (value, var) = self.call(Callee::Operation { name: m.method.clone() }, operands);
        self.rule_shape(value, operation.rule, &m.method, operation.name, shapes, &plain);
        Lowered::Active(value, var)
    }

    /// The arguments of an operation, in the form that its table row says.
    fn arguments<'e>(
        &mut self,
        operation: &Op,
        args: impl Iterator<Item = &'e Expr>,
        operands: &mut Vec<Operand>,
        shapes: &mut Vec<proc_macro2::TokenStream>,
    ) {
        for (at, arg) in args.enumerate() {
            match operation.arguments.get(at) {
                Some(Argument::Operand) => {
                    let (operand, shape) = self.shaped(arg);
                    operands.push(operand);
                    shapes.push(shape);
                }
                Some(Argument::Tensor) => {
                    shapes.push(self.operand_of(arg));
                    operands.push(Operand::Plain(self.plain(arg)));
                }
                Some(Argument::Value | Argument::Context) | None => {
                    if self.gives_tensor(arg)
                        && let Some(shape) = self.plain_shape(arg)
                    {
                        shapes.push(quote!(#shape));
                    }
                    operands.push(Operand::Plain(self.plain(arg)));
                }
            }
        }
    }

    /// An operation on operands that are lowered already.
    fn operation(&mut self, operation: Option<&Op>, name: Ident, operands: Vec<Operand>, plain: &[&Expr]) -> Lowered {
        let shapes = operands.iter().map(|o| self.operand_shape(o)).collect();
        let (value, var) = self.call(Callee::Operation { name: name.clone() }, operands);
        if let Some(operation) = operation {
            self.rule_shape(value, operation.rule, &name, operation.name, shapes, plain);
        }
        Lowered::Active(value, var)
    }

    fn layer_call(&mut self, m: &ExprMethodCall) -> Lowered {
        let Some(place) = self.place(&m.receiver) else {
            check::unsupported(&m.receiver, self.diags);
            return self.nothing();
        };
        let (mut args, mut shapes) = (vec![], vec![]);
        for arg in &m.args {
            let (operand, shape) = self.shaped(arg);
            args.push(operand);
            shapes.push(shape);
        }
        let (value, var) = self.call(Callee::Layer { place: place.clone(), name: m.method.clone() }, args);
        let receiver = &m.receiver;
        let said = crate::model::body::emit::said(&quote!(#receiver));
        self.layer_shape(value, &place, &m.method, m.args.first(), &said, shapes);
        Lowered::Active(value, var)
    }

    fn free_call(&mut self, c: &ExprCall) -> Lowered {
        let Expr::Path(path) = &*c.func else {
            check::unsupported(&c.func, self.diags);
            return self.nothing();
        };
        let known = function(&path.path);
        if let Some(name) = path.path.get_ident().filter(|name| name.to_string().starts_with(char::is_uppercase)) {
            check::constructor(name, self.diags);
            return self.nothing();
        }
        let is_type = path.path.segments.len() > 1
            && path
                .path
                .segments
                .iter()
                .rev()
                .nth(1)
                .is_some_and(|s| s.ident.to_string().starts_with(char::is_uppercase));
        if let Some(operation) = known {
            check::arity(&path.path, operation, c.args.len(), self.diags);
        }
        let (mut args, mut shapes) = (vec![], vec![]);
        match known {
            Some(operation) if LISTS.contains(&operation.name) => {
                let list = operation.arguments.iter().position(|a| *a == Argument::Operand);
                for (at, arg) in c.args.iter().enumerate() {
                    if Some(at) == list {
                        let (operand, elements) = self.list_operand(arg);
                        args.push(operand);
                        shapes = elements;
                    } else {
                        args.push(Operand::Plain(self.plain(arg)));
                    }
                }
            }
            Some(operation) => self.arguments(operation, c.args.iter(), &mut args, &mut shapes),
            None => {
                for arg in &c.args {
                    let (operand, shape) = self.shaped(arg);
                    args.push(operand);
                    shapes.push(shape);
                }
            }
        }
        let plain = known.map(|operation| values(operation, c.args.iter())).unwrap_or_default();
        let callee = match is_type {
            true => Callee::Associated { path: path.path.clone() },
            false => Callee::Function { path: path.path.clone() },
        };
        let (value, var) = self.call(callee, args);
        match known {
            Some(operation) if !shapes.is_empty() => {
                self.rule_shape(value, operation.rule, &path.path, operation.name, shapes, &plain)
            }
            None if !is_type => self.function_shape(value, &path.path, c.args.first(), shapes),
            _ => {}
        }
        Lowered::Active(value, var)
    }

    /// The tensors of `cat`, `stack` and `einsum`, and the shapes of the elements where they are written out.
    fn list_operand(&mut self, arg: &Expr) -> (Operand, Vec<proc_macro2::TokenStream>) {
        let (elements, list): (Option<Vec<Expr>>, bool) = match arg {
            Expr::Array(a) => (Some(a.elems.iter().cloned().collect()), true),
            Expr::Tuple(t) => (Some(t.elems.iter().cloned().collect()), false),
            Expr::Macro(m) => (list_elements(&m.mac), true),
            Expr::Reference(r) => return self.list_operand(&r.expr),
            Expr::Paren(p) => return self.list_operand(&p.expr),
            _ => (None, true),
        };
        let Some(elements) = elements else { return (self.value_of(arg), vec![]) };
        let (parts, shapes): (Vec<_>, Vec<_>) = elements.iter().map(|e| self.shaped(e)).unzip();
        let (value, var) = self.pack_operands(parts, list);
        (Operand::Active { value, var, last: false, at: None }, shapes)
    }

    fn pack<'e>(&mut self, elements: impl Iterator<Item = &'e Expr>, list: bool) -> Lowered {
        let (parts, shapes): (Vec<_>, Vec<_>) = elements.map(|e| self.shaped(e)).unzip();
        let (value, var) = self.pack_operands(parts, list);
        if !list {
            self.tuple_shape(value, shapes);
        }
        Lowered::Active(value, var)
    }

    fn pack_operands(&mut self, parts: Vec<Operand>, list: bool) -> (crate::model::body::ir::Value, Var) {
        let value = self.value();
        let var = self.temp(Some(value));
        self.emit(Stmt::Pack { var, value, parts, list });
        (value, var)
    }

    /// The variable behind a name, if it is a list or tuple that holds active values.
    pub(super) fn list_var(&self, expr: &Expr) -> Option<Var> {
        match expr {
            Expr::Path(p) => match self.find(&p.path.get_ident()?.to_string()) {
                Some(Binding::Active(var)) => Some(*var),
                _ => None,
            },
            Expr::Paren(p) => self.list_var(&p.expr),
            _ => None,
        }
    }

    pub(super) fn push(&mut self, call: &ExprMethodCall) {
        let (Some(list), Some(item)) = (self.list_var(&call.receiver), call.args.first()) else {
            check::unsupported(call, self.diags);
            return;
        };
        let lowered = self.expr(item);
        let item = self.operand(lowered);
        if let Operand::Plain(plain) = &item
            && self.info(list).tentative
        {
            let (receiver, tokens) = (&call.receiver, &plain.tokens);
            self.emit(Stmt::Plain(Plain { tokens: quote!(#receiver.push(#tokens);), uses: plain.uses.clone() }));
            if let Expr::Path(p) = &*call.receiver
                && let Some(ident) = p.path.get_ident()
            {
                self.rebind(&ident.to_string(), Binding::Plain);
            }
            return;
        }
        self.info(list).tentative = false;
        let Some(before) = self.current(list) else { return };
        let after = self.value();
        self.info(list).value = Some(after);
        self.emit(Stmt::Push { list, before, after, item });
    }

    fn pop(&mut self, list: Var, rest: proc_macro2::TokenStream) -> Lowered {
        let Some(before) = self.current(list) else { return self.nothing() };
        let (after, value) = (self.value(), self.value());
        self.info(list).value = Some(after);
        let var = self.temp(Some(value));
        self.emit(Stmt::Pop { list, before, after, var, value, rest });
        Lowered::Active(value, var)
    }

    pub(super) fn element(&mut self, list: Var, index: &Expr) -> Lowered {
        if self.active(index) {
            check::active_condition(index, self.diags);
            return self.nothing();
        }
        let index = self.plain(index);
        self.element_at(list, index)
    }

    /// `list[index]`.
    pub(super) fn element_at(&mut self, list: Var, index: Plain) -> Lowered {
        let Some(of) = self.current(list) else { return self.nothing() };
        let value = self.value();
        let var = self.temp(Some(value));
        self.emit(Stmt::Element { list, of, index, var, value });
        Lowered::Active(value, var)
    }

    fn rebind(&mut self, name: &str, binding: Binding) {
        if let Some(scope) = self.scopes.iter_mut().rev().find(|s| s.contains_key(name)) {
            scope.insert(name.to_string(), binding);
        }
    }

    /// Code for a dim of the model by name, or `None` where the name is bound, or neither in SCREAMING case nor among
    /// those that the shape of the result mentions.
    pub(super) fn dim_value(&self, ident: &Ident) -> Option<proc_macro2::TokenStream> {
        let text = ident.to_string();
        let screaming = text.starts_with(|c: char| c.is_ascii_uppercase())
            && text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
        if !(screaming || self.proofs.names.contains(ident)) || self.find(&text).is_some() {
            return None;
        }
        hygiene::dim(self.context.self_ty?, ident)
    }
}

/// An operand that is a variable, at the place where the user wrote it: there editors and rustc look for it.
pub(super) fn written(expr: &Expr, operand: Operand) -> Operand {
    match (expr, operand) {
        (Expr::Path(p), Operand::Active { value, var, last, .. }) => {
            Operand::Active { value, var, last, at: p.path.get_ident().map(Ident::span) }
        }
        (Expr::Paren(p), operand) => written(&p.expr, operand),
        (Expr::Reference(r), operand) => written(&r.expr, operand),
        (_, operand) => operand,
    }
}
