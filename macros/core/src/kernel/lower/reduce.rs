//! Reductions: `sum(|j| ..)`, `sum(0..K, |j| ..)`.

use super::super::ast::{At, Closure, Expr, Node, ParamKind, text};
use super::super::bounds::is_size;
use super::super::check::{index as check, kinds};
use super::super::poly::Poly;
use super::dims::Extent;
use super::{Binding, Lower, Value, ranges};
use cotangent_ir::{Axis, Fold, Id, Kind, Unary};
use proc_macro2::Ident;

/// The reductions.
pub(in super::super) const NAMES: &[&str] =
    &["sum", "mean", "prod", "max", "min", "argmax", "argmin", "logsumexp", "any", "all"];

/// Whether a name is that of a reduction.
pub(super) fn is_reduction(name: &str) -> bool {
    NAMES.contains(&name)
}

impl Lower<'_> {
    /// `sum(0..M, 0..N, |j, k| ..)`, or without the ranges.
    pub(super) fn reduction(&mut self, name: &Ident, args: &[Expr], at: &At) -> Option<Id> {
        let Some((Expr { node: Node::Closure(closure), .. }, ranges)) = args.split_last() else {
            check::reduction_without_closure(name, self.diags);
            return None;
        };
        let (outer, live) = (self.scope.len(), self.live.len());
        let axes = self.axes(name, closure, ranges);
        for (place, param) in closure.params.iter().enumerate() {
            let Some(param) = param else { continue };
            let index = axes.as_ref().map(|axes| Value::Node(self.b.index(axes[place])));
            self.scope.push((text(param), Binding::Value(index)));
        }
        let body = self.scalar(&closure.body);
        self.scope.truncate(outer);
        self.live.truncate(live);
        let (axes, body) = (axes?, body?);
        let body = self.body(name, body, &closure.body.at)?;
        self.note(at);
        Some(self.fold(name, &axes, body))
    }

    /// The body of a reduction, as the kind that it takes.
    fn body(&mut self, name: &Ident, body: Id, at: &At) -> Option<Id> {
        let (word, kind) = (text(name), self.b.kind(body));
        match (word.as_str(), kind) {
            ("any" | "all", Kind::Bool) => Some(body),
            ("any" | "all", _) => {
                kinds::truth_expected(at, kind, self.diags);
                None
            }
            (_, Kind::Bool) => {
                kinds::number_expected(at, &word, self.diags);
                None
            }
            ("mean" | "logsumexp", _) => Some(self.b.cast(Kind::Float, body)),
            (_, _) => Some(body),
        }
    }

    fn fold(&mut self, name: &Ident, axes: &[Axis], body: Id) -> Id {
        match text(name).as_str() {
            "mean" => self.b.mean(axes, body),
            "prod" => self.b.fold(Fold::Prod, axes, body),
            "max" | "any" => self.b.fold(Fold::Max, axes, body),
            "min" | "all" => self.b.fold(Fold::Min, axes, body),
            "argmax" => self.b.fold(Fold::ArgMax, axes, body),
            "argmin" => self.b.fold(Fold::ArgMin, axes, body),
            "logsumexp" => self.logsumexp(axes, body),
            _ => self.b.sum(axes, body),
        }
    }

    /// `m + log(sum(exp(x - m)))`, `m` being the largest value, or 0 where that is infinite. The result does not depend
    /// on `m` but for rounding, which is why `m` has no derivative.
    fn logsumexp(&mut self, axes: &[Axis], body: Id) -> Id {
        let b = &mut self.b;
        let most = b.fold(Fold::Max, axes, body);
        let (size, infinity, zero) = (b.unary(Unary::Abs, most), b.float(f64::INFINITY), b.float(0.0));
        let infinite = b.eq(size, infinity);
        let most = b.select(infinite, zero, most);
        let most = b.unary(Unary::Detach, most);
        let rest = b.sub(body, most);
        let rest = b.unary(Unary::Exp, rest);
        let sum = b.sum(axes, rest);
        let log = b.unary(Unary::Log, sum);
        b.add(most, log)
    }

    /// The axes of a reduction; nothing where one was reported.
    fn axes(&mut self, name: &Ident, closure: &Closure, ranges: &[Expr]) -> Option<Vec<Axis>> {
        if closure.params.is_empty() {
            check::reduction_over_nothing(&closure.head, name, self.diags);
            return None;
        }
        let twice = self.duplicate_index(closure);
        if !ranges.is_empty() && ranges.len() != closure.params.len() {
            check::number_of_ranges(&closure.head, closure.params.len(), ranges.len(), self.diags);
            return None;
        }
        let mut axes = vec![];
        for (place, param) in closure.params.iter().enumerate() {
            let extent = match (ranges.get(place), param) {
                (Some(range), _) => self.range(range),
                (None, Some(param)) => self.inferred(name, param, closure),
                (None, None) => {
                    check::ambiguous_range(&closure.head, name, "_", self.diags);
                    None
                }
            };
            let axis_name = param.as_ref().map_or_else(|| "i".to_owned(), text);
            axes.push(extent.map(|extent| self.axis(&axis_name, extent)));
        }
        if twice { None } else { axes.into_iter().collect() }
    }

    /// Reports an index that a closure has twice.
    pub(super) fn duplicate_index(&mut self, closure: &Closure) -> bool {
        let names: Vec<&Ident> = closure.params.iter().flatten().collect();
        let twice = names.iter().enumerate().find(|(at, name)| names[..*at].iter().any(|n| text(n) == text(name)));
        if let Some((_, name)) = twice {
            check::duplicate_index(name, self.diags);
        }
        twice.is_some()
    }

    /// The extent of an explicit range `0..n`, `n` being made of dims and numbers.
    fn range(&mut self, range: &Expr) -> Option<Id> {
        let Node::Range(start, end) = &range.node else {
            if !matches!(range.node, Node::Broken) {
                check::range_expected(&range.at, self.diags);
            }
            return None;
        };
        let (start_id, end_id) = (self.scalar(start), self.scalar(end));
        let (start_id, end_id) = (start_id?, end_id?);
        if self.b.as_int(start_id) != Some(0) {
            check::range_start(&start.at, self.diags);
            return None;
        }
        let size = self.size(end_id);
        if size.is_none() {
            check::range_end(&end.at, self.diags);
        }
        size.map(|size| size.node(&mut self.b))
    }

    /// An integer node over dims alone, as a polynomial.
    fn size(&self, id: Id) -> Option<Poly> {
        if self.b.kind(id) != Kind::Int || !self.b.free(id).is_empty() {
            return None;
        }
        let mut bounds = super::Bounds::new(&self.b, &self.dims.quotients);
        bounds.polynomial(id).filter(is_size)
    }

    /// The extent of an index without a range: that of the dims that it indexes by itself.
    fn inferred(&mut self, reduction: &Ident, param: &Ident, closure: &Closure) -> Option<Id> {
        let name = text(param);
        let uses = ranges::uses(&closure.body, &name);
        let mut found: Option<(Extent, String, usize)> = None;
        for guarded in [false, true] {
            for place in uses.iter().filter(|u| u.guarded == guarded) {
                let Some(extent) = self.indexed_extent(place) else { continue };
                let tensor = text(place.tensor);
                match &found {
                    None => found = Some((extent, tensor, place.place)),
                    Some((known, first, axis)) if known.node != extent.node && !guarded => {
                        let first = (first.as_str(), *axis, known.written.as_str());
                        let second = (tensor.as_str(), place.place, extent.written.as_str());
                        check::range_mismatch(&place.at, &name, first, second, self.diags);
                        return None;
                    }
                    Some(_) => {}
                }
            }
        }
        if found.is_none() && !self.hidden_use(&uses) {
            check::ambiguous_range(param, reduction, &name, self.diags);
        }
        found.map(|(extent, _, _)| extent.node)
    }

    /// The extent that an index of a tensor has.
    fn indexed_extent(&self, place: &ranges::Use<'_>) -> Option<Extent> {
        let Some(Binding::Param(param)) = self.lookup(&text(place.tensor)) else { return None };
        let extents = self.params[param].extents.as_ref().filter(|e| e.len() == place.indices)?;
        extents.get(place.place).cloned()
    }

    /// Whether a use tells nothing because of a mistake that is reported elsewhere.
    fn hidden_use(&self, uses: &[ranges::Use<'_>]) -> bool {
        uses.iter().any(|place| match self.lookup(&text(place.tensor)) {
            Some(Binding::Param(param)) => match &self.params[param].ast.kind {
                ParamKind::Tensor(_) => self.indexed_extent(place).is_none(),
                ParamKind::Unknown | ParamKind::Scalar(_) | ParamKind::Wide | ParamKind::Size | ParamKind::Key => true,
            },
            Some(Binding::Value(_) | Binding::Hidden) | None => true,
        })
    }
}
