//! Calls: functions of single values, what only kernels have, and other kernels.

use super::super::ast::{At, Expr, Node, ParamKind, text};
use super::super::check::{calls as check, index, kinds, names};
use super::functions::function;
use super::{Binding, Lower, Value, functions, is_closure, placeholder, reduce, scan};
use cotangent_ir::{Binary, Id, Kind};
use proc_macro2::Ident;
use syn::Path;

impl Lower<'_> {
    /// `f(a, b)`.
    pub(super) fn call(&mut self, path: &Path, args: &[Expr], at: &At) -> Option<Value> {
        let Some(name) = builtin(path) else {
            if is_own(path, &self.name) {
                check::recursion(&path.segments[1].ident, self.diags);
                return None;
            }
            return self.kernel(path, args, at).map(Value::Node);
        };
        let word = text(name);
        let over_indices = args.last().is_some_and(|arg| is_closure(&arg.node));
        match word.as_str() {
            "select" | "where" => return self.select(name, args, at),
            "or_zero" => return self.or_zero(name, args).map(Value::Node),
            "uniform" | "random_bits" => return self.random(name, args, at).map(Value::Node),
            "len" => return self.len(name, args).map(Value::Node),
            "powi" | "pow" | "powf" => return self.power(name, args).map(Value::Node),
            _ => {}
        }
        if reduce::is_reduction(&word) && (over_indices || function(&word).is_none()) {
            return self.reduction(name, args, at).map(Value::Node);
        }
        if scan::NAMES.contains(&word.as_str()) {
            return self.scan(name, args, at).map(Value::Node);
        }
        match function(&word) {
            Some(function) => self.apply(function, name, args).map(Value::Node),
            None if word == self.name => {
                check::recursion(name, self.diags);
                None
            }
            None if args.iter().any(|arg| matches!(arg.node, Node::Closure(_) | Node::Range(..))) => {
                check::unknown_reduction(name, reduce::NAMES.iter().chain(scan::NAMES).copied(), self.diags);
                None
            }
            None => match functions::letters_swapped(&word) {
                Some(meant) => {
                    check::letters_swapped(name, meant, self.diags);
                    None
                }
                None => self.kernel(path, args, at).map(Value::Node),
            },
        }
    }

    /// `a.f(b)`; the receiver is the first argument.
    pub(super) fn method(&mut self, name: &Ident, args: &[Expr]) -> Option<Id> {
        let word = text(name);
        match function(&word) {
            _ if matches!(word.as_str(), "powi" | "pow" | "powf") => self.power(name, args),
            Some(function) => self.apply(function, name, args),
            None => {
                // A tensor as the receiver is part of the same mistake.
                let others = args.iter().filter(|arg| !matches!(arg.node, Node::Name(_)));
                others.for_each(|arg| drop(self.expr(arg)));
                if reduce::is_reduction(&word) {
                    index::reduction_without_closure(name, self.diags);
                } else {
                    check::unknown_method(name, functions::names().chain(["powi"]), self.diags);
                }
                None
            }
        }
    }

    /// Whether a function gets as many arguments as it takes.
    fn arity(&mut self, name: &Ident, takes: usize, args: &[Expr]) -> bool {
        if takes != args.len() {
            args.iter().for_each(|arg| drop(self.expr(arg)));
            check::number_of_arguments(name, takes, &[], args.len(), self.diags);
        }
        takes == args.len()
    }

    /// `select(c, a, b)`.
    fn select(&mut self, name: &Ident, args: &[Expr], at: &At) -> Option<Value> {
        let [condition, a, b] = args else {
            self.arity(name, 3, args);
            return None;
        };
        let (q, x, y) = (self.condition(condition), self.expr(a), self.expr(b));
        self.choose(q?, (x?, &a.at), (y?, &b.at), at)
    }

    /// `or_zero(x[i - 1])`: 0 where the place is outside.
    fn or_zero(&mut self, name: &Ident, args: &[Expr]) -> Option<Id> {
        match args {
            [Expr { node: Node::Index(tensor, indices), at }] => self.load(tensor, indices, at, true),
            [Expr { node: Node::Broken, .. }] => None,
            _ => {
                args.iter().for_each(|arg| drop(self.expr(arg)));
                check::or_zero_of_value(name, self.diags);
                None
            }
        }
    }

    /// `uniform(key, i)`, or `random_bits(key, i)`.
    fn random(&mut self, name: &Ident, args: &[Expr], at: &At) -> Option<Id> {
        let [key, place] = args else {
            // The key is no value, so that the arguments are not lowered.
            check::number_of_arguments(name, 2, &[], args.len(), self.diags);
            return None;
        };
        let (stream, place_id) = (self.key(key), self.scalar(place));
        let (stream, place_id) = (stream?, place_id?);
        if self.b.kind(place_id) != Kind::Int {
            index::not_an_index(&place.at, self.b.kind(place_id), self.diags);
            return None;
        }
        self.note(at);
        let word = self.b.random(stream, place_id);
        if *name == "random_bits" {
            return Some(word);
        }
        // The upper 24 bits of the word, as many as an `f32` holds.
        let eight = self.b.int(8);
        let bits = self.b.binary(Binary::Shr, word, eight);
        let bits = self.b.cast(Kind::Float, bits);
        Some(self.b.scale(1.0 / 16_777_216.0, bits))
    }

    /// A random stream.
    fn key(&mut self, e: &Expr) -> Option<Id> {
        if let Node::Name(name) = &e.node
            && let Some(Binding::Param(param)) = self.lookup(&text(name))
            && let ParamKind::Key = self.params[param].ast.kind
        {
            self.params[param].used = true;
            self.note(&e.at);
            return Some(self.b.load(self.params[param].arg, &[]));
        }
        // A value that has a mistake of its own is reported for that.
        if self.scalar(e).is_some() {
            check::key_expected(&e.at, self.diags);
        }
        None
    }

    /// `len(C)`.
    fn len(&mut self, name: &Ident, args: &[Expr]) -> Option<Id> {
        let [Expr { node: Node::Name(dim), at }] = args else {
            check::len_of_dim(&At::from(name.span()), self.diags);
            return None;
        };
        let Some(dim) = self.dims.get(&text(dim)) else {
            match self.lookup(&text(dim)) {
                Some(_) => check::len_of_dim(at, self.diags),
                None => names::unknown_name(dim, self.dims.names(), self.diags),
            }
            return None;
        };
        self.note(at);
        Some(self.b.size(dim))
    }

    /// A power. That of an integer by an integer is one, and like that of `powi` it is a literal.
    fn power(&mut self, name: &Ident, args: &[Expr]) -> Option<Id> {
        let [base, power] = args else {
            self.arity(name, 2, args);
            return None;
        };
        let word = text(name);
        let (x, n) = (self.number(base, &word), self.number(power, &word));
        let (x, n) = (x?, n?);
        let integers = self.b.kind(x) == Kind::Int && self.b.kind(n) == Kind::Int;
        if word != "powi" && !integers {
            let operands = [self.b.cast(Kind::Float, x), self.b.cast(Kind::Float, n)];
            self.note(&At::from(name.span()));
            return function("pow")?.make(&mut self.b, &operands);
        }
        let Some(n) = self.b.as_int(n).filter(|n| i32::try_from(*n).is_ok()) else {
            check::literal_power(&power.at, integers, self.diags);
            return None;
        };
        if n < 0 && self.b.kind(x) == Kind::Int {
            check::negative_power(&power.at, self.diags);
            return None;
        }
        self.note(&At::from(name.span()));
        Some(self.b.power(x, n))
    }

    /// A call of another pointwise kernel.
    fn kernel(&mut self, path: &Path, args: &[Expr], at: &At) -> Option<Id> {
        self.results(path, args, 1, at)?.pop()
    }

    /// `let (a, b) = f(x);`, where `f` is a kernel of so many results; nothing if it is a function of the language.
    pub(super) fn call_for_parts(&mut self, e: &Expr, parts: usize) -> Option<Option<Value>> {
        let Node::Call(path, args) = &e.node else { return None };
        let known = builtin(path).is_some_and(|name| {
            let word = text(name);
            function(&word).is_some()
                || reduce::is_reduction(&word)
                || SPECIAL.contains(&word.as_str())
                || word == self.name
        });
        if known || parts == 0 || is_own(path, &self.name) {
            return None;
        }
        let results = self.results(path, args, parts, &e.at);
        Some(results.map(|ids| Value::Tuple(ids.into_iter().map(Value::Node).collect())))
    }

    /// The results of another pointwise kernel.
    fn results(&mut self, path: &Path, args: &[Expr], gives: usize, at: &At) -> Option<Vec<Id>> {
        if args.is_empty() {
            check::call_without_arguments(at, self.diags);
            return None;
        }
        let mut values = vec![];
        for arg in args {
            values.push(self.scalar(arg).and_then(|id| match self.b.kind(id) {
                Kind::Float | Kind::Int => Some(self.b.cast(Kind::Float, id)),
                Kind::Bool => {
                    kinds::float_for_kernel(&arg.at, self.diags);
                    None
                }
            }));
        }
        let values = values.into_iter().collect::<Option<Vec<Id>>>()?;
        let arity = placeholder::Arity { takes: values.len(), gives };
        let kernel = placeholder::callee(path, arity, &self.name, &mut self.callees)?;
        let callee = self.b.callee(kernel);
        self.note(&At::of(path));
        Some((0..gives as u32).map(|out| self.b.call(callee, out, &values)).collect())
    }
}

/// What only kernels have, beside reductions.
pub(in super::super) const SPECIAL: &[&str] = &["select", "where", "or_zero", "uniform", "random_bits", "len", "powi"];

/// Whether a path is `self::` and the kernel's own name.
fn is_own(path: &Path, name: &str) -> bool {
    path.segments.len() == 2 && path.segments[0].ident == "self" && path.segments[1].ident == name
}

/// The name by which a path may call a function of this language: a single one, or that of a method of `f32`.
fn builtin(path: &Path) -> Option<&Ident> {
    if let Some(name) = path.get_ident() {
        return Some(name);
    }
    let mut segments = path.segments.iter();
    match (path.leading_colon, segments.next(), segments.next(), segments.next()) {
        (None, Some(ty), Some(function), None) if ["f32", "f64", "i64"].iter().any(|name| ty.ident == name) => {
            Some(&function.ident)
        }
        (_, _, _, _) => None,
    }
}
