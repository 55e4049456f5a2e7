//! Random statements with parts of the model: lists of layers, optional parameters, own methods, free functions.

use super::expr::Expr;
use super::stmt::NAMES;
use super::{Body, Extent, Kind};

/// Heads of loops over lists of layers, with what they bind beside `part`.
const HEADS: &[(&str, Binds)] = &[
    ("part in &self.blocks", Binds::Nothing),
    ("part in self.blocks.iter().rev()", Binds::Nothing),
    ("(i, part) in self.blocks.iter().enumerate()", Binds::Index),
    ("(i, part) in self.blocks.iter().rev().enumerate()", Binds::Index),
    ("(i, part) in self.blocks.iter().enumerate().rev()", Binds::Index),
    ("(i, part) in self.stages.iter().enumerate()", Binds::Index),
    ("part in self.stages.iter().rev()", Binds::Nothing),
    ("part in self.blocks.iter().skip(1)", Binds::Nothing),
    ("(part, other) in self.blocks.iter().zip(self.stages.iter())", Binds::Layer),
    ("(part, other) in self.blocks.iter().rev().zip(&self.stages)", Binds::Layer),
    ("(other, part) in self.stages.iter().zip(self.blocks.iter().rev())", Binds::Layer),
    ("(i, (part, other)) in self.blocks.iter().zip(self.stages.iter()).enumerate()", Binds::IndexAndLayer),
];

#[derive(Clone, Copy)]
enum Binds {
    Nothing,
    Index,
    Layer,
    IndexAndLayer,
}

impl Body {
    /// A value that layers, methods or functions compute.
    pub(super) fn layer(&mut self) {
        let name = *self.rng.pick(NAMES);
        let full = |body: &mut Body| body.some().full().within(3.0).text;
        let (text, e) = match self.rng.below(12) {
            0 | 1 => {
                let e = self.some().with_axes();
                (format!("self.drop.forward({}, cx)", e.text), Expr { size: e.size * 1.4, ..e })
            }
            2..5 => (format!("self.lin.forward({})", full(self)), layered(4.0)),
            5 => (format!("self.block.forward({}, cx)", full(self)), layered(6.0)),
            6 => (format!("self.block.up.forward({})", full(self)), layered(4.0)),
            7 => (format!("self.blocks[1].forward({}, cx)", full(self)), layered(6.0)),
            8 => (format!("self.mixed({}, {})", full(self), full(self)), layered(5.0)),
            9 => (format!("self.through({}, self.n, cx)", full(self)), layered(3.0)),
            10 => {
                let (a, b) = (self.some().with_axes().within(3.0), self.some().with_axes().within(3.0));
                let extent = if a.extent == b.extent { a.extent } else { Extent::Any };
                let by = *self.rng.pick(&["self.k", "0.25", "1.25"]);
                (format!("super::blend({}, {}, {by})", a.text, b.text), Expr::new("", extent, 6.0))
            }
            _ => return self.halves(),
        };
        let mark = self.mark();
        self.line(&format!("{mark}let {name} = {text};"));
        self.give(name, &e, false);
    }

    /// Two values of one method or function.
    fn halves(&mut self) {
        let at = self.rng.below(NAMES.len());
        let (first, second) = (NAMES[at], NAMES[(at + 1) % NAMES.len()]);
        let (text, a, b) = if self.rng.one_in(2) {
            let e = self.some().full().within(3.0);
            (format!("self.halves({})", e.text), layered(1.0), layered(4.0))
        } else {
            let e = self.some().with_axes().within(3.0);
            let part = Expr { size: 1.0, text: String::new(), ..e };
            (format!("super::waves({})", e.text), part.clone(), part)
        };
        let mark = self.mark();
        if self.rng.one_in(3) {
            self.line(&format!("{mark}let t = {text};"));
            self.scope.push(("t".into(), Kind::Pair([(a.extent, a.size), (b.extent, b.size)])));
        } else {
            self.line(&format!("{mark}let ({first}, {second}) = {text};"));
            self.give(first, &a, false);
            self.give(second, &b, false);
        }
    }

    /// A loop over layers of the model.
    pub(super) fn layers(&mut self) {
        if self.variable().is_none() {
            self.bind_mutable();
        }
        let (head, binds) = *self.rng.pick(HEADS);
        let (mark, outer) = (self.mark(), self.scope.len());
        self.line(&format!("{mark}for {head} {{"));
        if let Binds::Index | Binds::IndexAndLayer = binds {
            self.scope.push(("i".into(), Kind::Index));
        }
        self.depth += 1;
        if let Some((name, size)) = self.variable() {
            let e = self.some().full().within(3.0);
            let within = if size < 6.0 { ".tanh()" } else { "" };
            self.line(&format!("{name} = part.forward({}, cx){within};", e.text));
        }
        if let (Binds::Layer | Binds::IndexAndLayer, Some((name, _))) = (binds, self.variable()) {
            self.line(&format!("{name} = other.forward(self.b + {name}, cx).tanh();"));
        }
        self.depth -= 1;
        self.inside(2);
        self.scope.truncate(outer);
        self.line("}");
    }

    /// Alternatives by whether the model has a part.
    pub(super) fn optional(&mut self) {
        let (name, outer) = (*self.rng.pick(NAMES), self.scope.len());
        let by_match = self.rng.one_in(2);
        let heads = if by_match {
            ["match &self.bias { Some(bias) => {", "} None => {", "} };"]
        } else {
            ["if let Some(bias) = &self.bias {", "} else {", "};"]
        };
        let mark = self.mark();
        self.line(&format!("{mark}let {name} = {}", heads[0]));
        self.inside(2);
        self.depth += 1;
        let (e, operator) = (self.some().full().within(4.0), *self.rng.pick(&["+", "*"]));
        self.line(&format!("{} {operator} bias", e.text));
        self.depth -= 1;
        self.scope.truncate(outer);
        self.line(heads[1]);
        let b = self.tail();
        self.scope.truncate(outer);
        self.line(heads[2]);
        let extent = if b.extent == Extent::Full { Extent::Full } else { Extent::Any };
        self.give(name, &Expr::new("", extent, (2.0 * e.size + 2.0).max(b.size)), false);
    }

    /// A variable that may be assigned tensors with all columns.
    fn variable(&mut self) -> Option<(String, f64)> {
        let found = self.visible(|kind| matches!(kind, Kind::Tensor { mutable: true, .. }));
        if found.is_empty() {
            return None;
        }
        let (name, kind) = self.rng.pick(&found).clone();
        let Kind::Tensor { size, .. } = kind else { return None };
        Some((name, size))
    }
}

/// A tensor with the model's columns.
fn layered(size: f64) -> Expr {
    Expr::new("", Extent::Full, size)
}
