//! Running reductions: `cumsum(|j| x[r][j], i)` is the sum over the positions `j` up to `i`, that of `i` included.
//!
//! The index of the closure takes the place of the index at which the result is read, along whose axis it runs. What
//! varies with that index otherwise has no one value inside, and is hidden there.

use super::super::ast::{At, Expr, Node, text};
use super::super::check::{index as check, kinds};
use super::{Binding, Lower, Value};
use cotangent_ir::{Axis, Fold, Id, Kind};
use proc_macro2::Ident;

/// The running reductions.
pub(in super::super) const NAMES: &[&str] = &["cumsum", "cumprod", "cummax", "cummin"];

impl Lower<'_> {
    /// `cumsum(|j| .., i)`.
    pub(super) fn scan(&mut self, name: &Ident, args: &[Expr], at: &At) -> Option<Id> {
        let [Expr { node: Node::Closure(closure), .. }, place] = args else {
            check::scan_arguments(name, self.diags);
            return None;
        };
        let [param] = &closure.params[..] else {
            check::scan_arguments(name, self.diags);
            return None;
        };
        let axis = self.scalar(place).and_then(|id| self.scan_axis(id, &place.at));
        let scope = self.scope.clone();
        if let Some(axis) = axis {
            self.hide(axis);
        }
        if let Some(param) = param {
            let index = axis.map(|axis| Value::Node(self.b.index(axis)));
            self.scope.push((text(param), Binding::Value(index)));
        }
        // A tensor that changes has other values at the other positions.
        let places = self.places.take();
        let body = self.scalar(&closure.body);
        self.places = places;
        self.scope = scope;
        let (axis, body) = (axis?, body?);
        if self.b.kind(body) == Kind::Bool {
            kinds::number_expected(&closure.body.at, &text(name), self.diags);
            return None;
        }
        self.note(at);
        Some(self.b.scan(fold(&text(name)), axis, false, false, body))
    }

    /// The axis of an index that stands alone.
    fn scan_axis(&mut self, place: Id, at: &At) -> Option<Axis> {
        if let cotangent_ir::Node::Index(axis) = self.b.node(place) {
            return Some(axis);
        }
        check::scan_place(at, self.diags);
        None
    }

    /// Hides what varies along an axis.
    fn hide(&mut self, axis: Axis) {
        let mut scope = std::mem::take(&mut self.scope);
        for (_, binding) in &mut scope {
            if let Binding::Value(Some(value)) = binding
                && self.varies(value, axis)
            {
                *binding = Binding::Hidden;
            }
        }
        self.scope = scope;
    }

    fn varies(&self, value: &Value, axis: Axis) -> bool {
        match value {
            Value::Node(id) => self.b.free(*id).contains(&axis),
            Value::Tuple(values) => values.iter().any(|value| self.varies(value, axis)),
        }
    }
}

fn fold(name: &str) -> Fold {
    match name {
        "cumprod" => Fold::Prod,
        "cummax" => Fold::Max,
        "cummin" => Fold::Min,
        _ => Fold::Sum,
    }
}
