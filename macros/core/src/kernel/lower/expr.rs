//! Expressions, blocks and names.

use super::super::ast::{At, Block, Expr, LetType, Node, ParamKind, Pattern, Stmt, text};
use super::super::check::{index, kinds, names};
use super::{Binding, Lower, Value};
use cotangent_ir::{Id, Kind, Unary};
use proc_macro2::Ident;

/// How many parts a tuple may have, those of its parts included: tuples of tuples grow fast.
const PARTS: usize = 100;

impl Lower<'_> {
    /// The value of an expression; nothing where it was reported.
    pub(super) fn expr(&mut self, e: &Expr) -> Option<Value> {
        let id = match &e.node {
            Node::Broken => return None,
            Node::Float(value) => self.constant(e, |l| l.b.float(*value)),
            Node::Int(value) => self.constant(e, |l| l.b.int(*value)),
            Node::Truth(value) => self.constant(e, |l| l.b.truth(*value)),
            Node::Name(name) => return self.name(name),
            Node::Neg(a) => {
                let id = self.number(a, "-")?;
                self.note(&e.at);
                match self.b.as_float(id) {
                    Some(value) => self.b.float(-value),
                    None => self.b.neg(id),
                }
            }
            Node::Not(a) => {
                let id = self.scalar(a)?;
                if self.b.kind(id) == Kind::Float {
                    kinds::bits_of_float(&a.at, "!", self.diags);
                    return None;
                }
                self.note(&e.at);
                self.b.unary(Unary::Not, id)
            }
            Node::Binary(operator, at, a, b) => self.binary(*operator, at, a, b)?,
            Node::If(condition, then, other) => {
                let condition = self.condition(condition);
                let (then, at) = (self.block(then), block_at(then));
                let (other, other_at) = (self.expr(other), value_at(other));
                return self.choose(condition?, (then?, &at), (other?, &other_at), &e.at);
            }
            Node::Cast(a, kind) => {
                let id = self.scalar(a)?;
                self.note(&e.at);
                self.b.cast(*kind, id)
            }
            Node::Call(path, args) => return self.call(path, args, &e.at),
            Node::Method(name, args) => self.method(name, args)?,
            Node::Index(name, indices) => self.load(name, indices, &e.at, false)?,
            Node::Tuple(parts) => {
                let parts: Vec<Option<Value>> = parts.iter().map(|part| self.expr(part)).collect();
                let tuple = Value::Tuple(parts.into_iter().collect::<Option<Vec<Value>>>()?);
                if size(&tuple) > PARTS {
                    kinds::large_tuple(&e.at, PARTS, self.diags);
                    return None;
                }
                return Some(tuple);
            }
            Node::Block(block) => return self.block(block),
            Node::Closure(closure) => {
                index::misplaced_closure(&closure.head, self.diags);
                return None;
            }
            Node::Range(..) => {
                index::misplaced_range(&e.at, self.diags);
                return None;
            }
        };
        Some(Value::Node(id))
    }

    fn constant(&mut self, e: &Expr, make: impl FnOnce(&mut Self) -> Id) -> Id {
        self.note(&e.at);
        make(self)
    }

    /// An expression that is one value.
    pub(super) fn scalar(&mut self, e: &Expr) -> Option<Id> {
        let value = self.expr(e)?;
        self.one(value, &e.at)
    }

    /// A value that is one, and no tuple.
    pub(super) fn one(&mut self, value: Value, at: &At) -> Option<Id> {
        match value {
            Value::Node(id) => Some(id),
            Value::Tuple(_) => {
                kinds::tuple_as_value(at, self.diags);
                None
            }
        }
    }

    /// An expression that is a number, for an operator or a function.
    pub(super) fn number(&mut self, e: &Expr, of: &str) -> Option<Id> {
        let id = self.scalar(e)?;
        if self.b.kind(id) == Kind::Bool {
            kinds::number_expected(&e.at, of, self.diags);
            return None;
        }
        Some(id)
    }

    /// An expression that is a truth value.
    pub(super) fn condition(&mut self, e: &Expr) -> Option<Id> {
        let id = self.scalar(e)?;
        if self.b.kind(id) != Kind::Bool {
            kinds::truth_expected(&e.at, self.b.kind(id), self.diags);
            return None;
        }
        Some(id)
    }

    /// One of two values, part by part.
    pub(super) fn choose(&mut self, q: Id, a: (Value, &At), b: (Value, &At), at: &At) -> Option<Value> {
        match (a.0, b.0) {
            (Value::Node(x), Value::Node(y)) => {
                let (x, y) = self.alike(x, y).or_else(|| {
                    kinds::branches_differ(b.1, self.b.kind(x), self.b.kind(y), self.diags);
                    None
                })?;
                self.note(at);
                Some(Value::Node(self.b.select(q, x, y)))
            }
            (Value::Tuple(xs), Value::Tuple(ys)) if xs.len() == ys.len() => {
                let pairs = xs.into_iter().zip(ys);
                let parts: Vec<Option<Value>> = pairs.map(|(x, y)| self.choose(q, (x, a.1), (y, b.1), at)).collect();
                parts.into_iter().collect::<Option<Vec<Value>>>().map(Value::Tuple)
            }
            (Value::Tuple(_), _) | (_, Value::Tuple(_)) => {
                kinds::tuples_differ(b.1, self.diags);
                None
            }
        }
    }

    /// Two values of one kind: an integer beside a float becomes one. Nothing if only one is a truth value.
    pub(super) fn alike(&mut self, a: Id, b: Id) -> Option<(Id, Id)> {
        match (self.b.kind(a), self.b.kind(b)) {
            (x, y) if x == y => Some((a, b)),
            (Kind::Float, Kind::Int) => Some((a, self.b.cast(Kind::Float, b))),
            (Kind::Int, Kind::Float) => Some((self.b.cast(Kind::Float, a), b)),
            (_, _) => None,
        }
    }

    /// A value as a declared kind: an integer becomes a float where one is declared.
    pub(super) fn coerce(&mut self, id: Id, kind: Kind, at: &At) -> Option<Id> {
        match (self.b.kind(id), kind) {
            (found, needed) if found == needed => Some(id),
            (Kind::Int, Kind::Float) => Some(self.b.cast(Kind::Float, id)),
            (found, needed) => {
                kinds::declared_kind(at, found, needed, self.diags);
                None
            }
        }
    }

    /// A value as the declared type.
    fn typed(&mut self, value: Value, ty: &LetType, at: &At) -> Option<Value> {
        match (value, ty) {
            (value, LetType::Any) => Some(value),
            (Value::Node(id), LetType::One(kind)) => self.coerce(id, *kind, at).map(Value::Node),
            (Value::Tuple(values), LetType::Tuple(types)) if values.len() == types.len() => {
                let parts = values.into_iter().zip(types);
                let parts: Vec<Option<Value>> = parts.map(|(value, ty)| self.typed(value, ty, at)).collect();
                parts.into_iter().collect::<Option<Vec<Value>>>().map(Value::Tuple)
            }
            (_, _) => {
                kinds::declared_tuple(at, self.diags);
                None
            }
        }
    }

    /// What a name stands for.
    pub(super) fn lookup(&self, name: &str) -> Option<Binding> {
        self.scope.iter().rev().find(|(known, _)| known == name).map(|(_, binding)| binding.clone())
    }

    /// Reports a name that stands for nothing.
    pub(super) fn unknown_name(&mut self, name: &Ident) {
        let known: Vec<String> = self.known_names().into_iter().map(str::to_owned).collect();
        names::unknown_name(name, known.iter().map(String::as_str), self.diags);
    }

    fn name(&mut self, name: &Ident) -> Option<Value> {
        let text = text(name);
        match self.lookup(&text) {
            Some(Binding::Value(value)) => value,
            Some(Binding::Hidden) => {
                index::hidden_in_scan(name, self.diags);
                None
            }
            Some(Binding::Param(param)) => self.param(param, name).map(Value::Node),
            None => match self.dims.get(&text) {
                Some(dim) => {
                    self.note(&At::from(name.span()));
                    Some(Value::Node(self.b.size(dim)))
                }
                None if self.partial && text.starts_with(char::is_uppercase) => None,
                None => {
                    self.unknown_name(name);
                    None
                }
            },
        }
    }

    /// A parameter as a value: a scalar, or a tensor without axes.
    fn param(&mut self, param: usize, name: &Ident) -> Option<Id> {
        let at = At::from(name.span());
        self.params[param].used = true;
        match &self.params[param].ast.kind {
            ParamKind::Scalar(_) | ParamKind::Wide | ParamKind::Size => {
                self.note(&at);
                Some(self.b.load(self.params[param].arg, &[]))
            }
            ParamKind::Key => {
                names::key_as_value(name, self.diags);
                None
            }
            ParamKind::Tensor(shape) if shape.rest.is_none() && shape.dims.is_empty() => {
                self.load(name, &[], &at, false)
            }
            ParamKind::Tensor(_) => {
                let rank = self.params[param].extents.as_ref().map(Vec::len);
                names::tensor_without_indices(name, rank, self.diags);
                None
            }
            ParamKind::Unknown => None,
        }
    }

    /// The value of a block.
    pub(super) fn block(&mut self, block: &Block) -> Option<Value> {
        let outer = self.scope.len();
        self.statements(block, false);
        let value = self.tail(block);
        self.scope.truncate(outer);
        value
    }

    /// The value at the end of a block, whose statements are done.
    pub(super) fn tail(&mut self, block: &Block) -> Option<Value> {
        match &block.tail {
            Some(tail) => self.expr(tail),
            None => {
                kinds::missing_value(block.end, self.diags);
                None
            }
        }
    }

    /// The statements of a block; `assigns` where elements of tensors may be assigned.
    pub(super) fn statements(&mut self, block: &Block, assigns: bool) {
        for stmt in &block.stmts {
            match stmt {
                Stmt::Let { pattern, ty, value } => {
                    let parts = if let Pattern::Tuple(parts, _) = pattern { parts.len() } else { 0 };
                    let new = self.call_for_parts(value, parts).unwrap_or_else(|| self.expr(value));
                    let new = new.and_then(|new| self.typed(new, ty, &value.at));
                    self.bind(pattern, new);
                }
                Stmt::Assign { target, .. } if !assigns => index::misplaced_assignment(&target.at, self.diags),
                Stmt::Assign { target, operator, value } => self.assign(target, *operator, value),
            }
        }
    }

    /// Binds the names of a pattern.
    fn bind(&mut self, pattern: &Pattern, value: Option<Value>) {
        match (pattern, value) {
            (Pattern::Name(name), value) => self.scope.push((text(name), Binding::Value(value))),
            (Pattern::Tuple(patterns, _), Some(Value::Tuple(values))) if patterns.len() == values.len() => {
                for (pattern, value) in patterns.iter().zip(values) {
                    self.bind(pattern, Some(value));
                }
            }
            (Pattern::Tuple(patterns, at), value) => {
                if let Some(value) = value {
                    let parts = if let Value::Tuple(values) = value { Some(values.len()) } else { None };
                    kinds::pattern_parts(at, patterns.len(), parts, self.diags);
                }
                patterns.iter().for_each(|pattern| self.bind(pattern, None));
            }
            (Pattern::Ignored, _) => {}
        }
    }
}

/// Where the value of an expression stands.
pub(super) fn value_at(e: &Expr) -> At {
    if let Node::Block(block) = &e.node { block_at(block) } else { e.at }
}

/// Where the value of a block stands.
pub(super) fn block_at(block: &Block) -> At {
    block.tail.as_ref().map_or_else(|| At::from(block.end), |tail| tail.at)
}

/// How many values there are in a value.
fn size(value: &Value) -> usize {
    match value {
        Value::Node(_) => 1,
        Value::Tuple(values) => 1 + values.iter().map(size).sum::<usize>(),
    }
}
