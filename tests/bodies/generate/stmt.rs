//! Random statements.

use super::expr::Expr;
use super::{Body, Extent, Kind};
use std::fmt::Write;

/// Names for tensors; all bodies use the same few, so that many are shadowed.
pub(super) const NAMES: &[&str] = &["x", "y", "a", "c", "h", "z"];
const NUMBERS: &[&str] = &["s", "r"];

impl Body {
    pub(super) fn stmt(&mut self) {
        self.left = self.left.saturating_sub(1);
        let deep = self.depth > 2;
        match self.rng.below(28) {
            0..6 => self.bind(),
            6..8 => self.bind_mutable(),
            8..11 => self.assign(),
            11..13 => self.number_local(),
            13..15 => self.layer(),
            15 => self.pair(),
            16 => self.list(),
            17 => self.fold(),
            18 => self.gather(),
            19 => self.cut(),
            20 if !deep => self.choice(),
            21 if !deep => self.choose_value(),
            22 if !deep => self.optional(),
            23 if !deep => self.layers(),
            24..26 if !deep => self.repeat(),
            26 if !deep => self.block_value(),
            _ => self.bind(),
        }
    }

    /// The loss: of a few variables, the youngest among them.
    pub(super) fn result(&mut self) {
        let last = self.scope.iter().rev().find(|(_, kind)| matches!(kind, Kind::Tensor { .. })).map(|(name, _)| name);
        let mut names = vec![last.cloned().unwrap_or_else(|| "x".into())];
        let mut others = self.visible(|kind| matches!(kind, Kind::Tensor { .. }));
        others.retain(|(name, _)| *name != names[0]);
        for _ in 0..self.rng.below(3).min(others.len()) {
            names.push(others.remove(self.rng.below(others.len())).0);
        }
        let loss = |(at, name): (usize, &String)| match at {
            0 => format!("{name}.square().mean(..)"),
            1 => format!("{name}.sin().mean(..)"),
            _ => format!("({name} * 0.5).mean(..)"),
        };
        let terms: Vec<String> = names.iter().enumerate().map(loss).collect();
        self.line(&terms.join(" + "));
    }

    pub(super) fn line(&mut self, text: &str) {
        let indent = "    ".repeat(self.depth);
        writeln!(self.text, "{indent}{text}").expect("a string takes text");
    }

    pub(super) fn some(&mut self) -> Expr {
        let depth = *self.rng.pick(&[1, 1, 2, 2, 3]);
        self.expr(depth)
    }

    pub(super) fn give(&mut self, name: &str, e: &Expr, mutable: bool) {
        let (extent, size) = (e.extent, if mutable { e.size.max(1.0) } else { e.size });
        self.scope.push((name.into(), Kind::Tensor { extent, size, mutable }));
    }

    pub(super) fn mark(&mut self) -> &'static str {
        if self.rng.one_in(8) { "#[checkpoint] " } else { "" }
    }

    fn bind(&mut self) {
        let (e, name) = (self.some(), *self.rng.pick(NAMES));
        let mark = if e.text.contains('(') { self.mark() } else { "" };
        self.line(&format!("{mark}let {name} = {};", e.text));
        self.give(name, &e, false);
    }

    pub(super) fn bind_mutable(&mut self) {
        let (e, name) = (self.some().with_axes(), *self.rng.pick(NAMES));
        // A field by itself is a part of the model, which cannot be assigned.
        let e = if e.text.starts_with("self.") { Expr { text: format!("({} * 1.25)", e.text), ..e } } else { e };
        self.line(&format!("let mut {name} = {};", e.text));
        self.give(name, &e, true);
    }

    /// Another value for a variable, of no more columns and size than it was declared with.
    fn assign(&mut self) {
        let found = self.visible(|kind| matches!(kind, Kind::Tensor { mutable: true, .. }));
        if found.is_empty() {
            return self.bind_mutable();
        }
        let (name, kind) = self.rng.pick(&found).clone();
        let Kind::Tensor { extent, size, .. } = kind else { return };
        let mut e = self.some().with_axes();
        if extent == Extent::Full {
            e = e.full();
        }
        if self.rng.one_in(2) {
            let (text, size) = (format!("({} + {name} * 0.5)", e.text), e.size + size * 0.5);
            e = Expr { text, size, ..e };
        }
        let e = e.within(size);
        self.line(&format!("{name} = {};", e.text));
    }

    fn number_local(&mut self) {
        let found = self.visible(|kind| matches!(kind, Kind::Number { mutable: true }));
        if !found.is_empty() && self.rng.one_in(2) {
            let (name, _) = self.rng.pick(&found).clone();
            let change = *self.rng.pick(&["{} = {} * 0.75;", "{} = 1.0 - {} * 0.5;"]);
            return self.line(&change.replace("{}", &name));
        }
        let (name, mutable) = (*self.rng.pick(NUMBERS), self.rng.one_in(2));
        let value = *self.rng.pick(&["1.25", "0.8", "0.7 * self.k", if mutable { "0.9" } else { "self.k" }]);
        let keyword = if mutable { "let mut" } else { "let" };
        self.line(&format!("{keyword} {name} = {value};"));
        self.scope.push((name.into(), Kind::Number { mutable }));
    }

    fn pair(&mut self) {
        let (a, b) = (self.some().with_axes(), self.some().with_axes());
        if self.rng.one_in(2) {
            let at = self.rng.below(NAMES.len());
            let (first, second) = (NAMES[at], NAMES[(at + 1) % NAMES.len()]);
            self.line(&format!("let ({first}, {second}) = ({}, {});", a.text, b.text));
            self.give(first, &a, false);
            self.give(second, &b, false);
        } else {
            self.line(&format!("let t = ({}, {});", a.text, b.text));
            self.scope.push(("t".into(), Kind::Pair([(a.extent, a.size), (b.extent, b.size)])));
        }
    }

    /// Statements of a scope of their own.
    pub(super) fn inside(&mut self, most: usize) {
        self.depth += 1;
        for _ in 0..1 + self.rng.below(most) {
            self.stmt();
        }
        self.depth -= 1;
    }

    fn condition(&mut self) -> String {
        let found = self.visible(|kind| matches!(kind, Kind::Index));
        match found.first() {
            Some((name, _)) if self.rng.one_in(2) => format!("{name} == 1"),
            _ => (*self.rng.pick(&["self.deep", "self.n > 2", "self.mode == 1"])).into(),
        }
    }

    /// Alternatives that assign.
    fn choice(&mut self) {
        let (condition, outer) = (self.condition(), self.scope.len());
        self.line(&format!("if {condition} {{"));
        self.inside(2);
        self.depth += 1;
        self.assign();
        self.depth -= 1;
        self.scope.truncate(outer);
        if self.rng.one_in(2) {
            self.line("} else {");
            self.depth += 1;
            self.assign();
            self.depth -= 1;
            self.scope.truncate(outer);
        }
        self.line("}");
    }

    /// The end of a block: a value that is not longer than `extent` allows.
    pub(super) fn tail(&mut self) -> Expr {
        self.depth += 1;
        let e = self.some().with_axes();
        self.line(&e.text);
        self.depth -= 1;
        e
    }

    /// Alternatives that give a value.
    fn choose_value(&mut self) {
        let (name, outer) = (*self.rng.pick(NAMES), self.scope.len());
        let (by_mode, thrice, mark) = (self.rng.one_in(2), self.rng.one_in(2), self.mark());
        let head = if by_mode { "match self.mode { 0 => {".into() } else { format!("if {} {{", self.condition()) };
        self.line(&format!("{mark}let {name} = {head}"));
        self.inside(2);
        let mut ends = vec![self.tail()];
        self.scope.truncate(outer);
        if thrice {
            let head = if by_mode { "} 1 => {".into() } else { format!("}} else if {} {{", self.condition()) };
            self.line(&head);
            self.inside(1);
            ends.push(self.tail());
            self.scope.truncate(outer);
        }
        self.line(if by_mode { "} _ => {" } else { "} else {" });
        ends.push(self.tail());
        self.line(if by_mode { "} };" } else { "};" });
        let same = ends.iter().all(|e| e.extent == ends[0].extent);
        let extent = if same { ends[0].extent } else { Extent::Any };
        let size = ends.iter().fold(0.0, |most: f64, e| most.max(e.size));
        self.give(name, &Expr::new("", extent, size), false);
    }

    fn block_value(&mut self) {
        let (name, outer, mark) = (*self.rng.pick(NAMES), self.scope.len(), self.mark());
        self.line(&format!("{mark}let {name} = {{"));
        self.inside(3);
        let e = self.tail();
        self.scope.truncate(outer);
        self.line("};");
        self.give(name, &e, false);
    }

    fn repeat(&mut self) {
        let outer = self.scope.len();
        let found = self.visible(|kind| matches!(kind, Kind::Tensor { mutable: true, .. }));
        if found.is_empty() {
            self.bind_mutable();
        }
        let (mark, outer) = (self.mark(), self.scope.len().max(outer));
        let range = *self.rng.pick(&["0..2", "0..self.n", "0..self.n"]);
        self.line(&format!("{mark}for i in {range} {{"));
        self.scope.push(("i".into(), Kind::Index));
        self.depth += 1;
        self.assign();
        self.depth -= 1;
        self.inside(3);
        self.scope.truncate(outer);
        self.line("}");
    }
}
