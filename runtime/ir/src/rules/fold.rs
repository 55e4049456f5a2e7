//! Float sums over axes.

use super::Simplifier;
use crate::kernel::{Axis, Binary, Fold, Id, Kind, Node};
use crate::rewrite::subst;

/// How deep speculation may nest. The longest cancellation known, that of layer norm, needs three.
const SPECULATIONS: u32 = 5;

/// How many sums a speculation may try in all.
const BUDGET: usize = 256;

impl Simplifier {
    /// The sum of `body` over `axes`, simplified.
    pub(crate) fn fold_sum(&mut self, axes: &[Axis], body: Id) -> Id {
        if axes.is_empty() || self.b.kind(body) != Kind::Float {
            return self.b.fold(Fold::Sum, axes, body);
        }
        if let Some(id) = self.pull_out(axes, body) {
            return id;
        }
        if let Some(id) = self.speculate(axes, body) {
            return id;
        }
        if let Some(id) = self.one_hot(axes, body) {
            return id;
        }
        self.b.fold(Fold::Sum, axes, body)
    }

    /// Rule (d): a factor that does not vary along the axes is multiplied once, after the sum. An axis along which nothing
    /// varies becomes its extent.
    fn pull_out(&mut self, axes: &[Axis], body: Id) -> Option<Id> {
        let (vary, still): (Vec<Axis>, Vec<Axis>) = axes.iter().partition(|a| self.b.free(body).contains(a));
        if !still.is_empty() {
            let mut factors = vec![(self.fold_sum(&vary, body), 1)];
            for axis in still {
                let extent = self.b.extent(axis);
                factors.push((self.b.cast(Kind::Float, extent), 1));
            }
            return Some(self.product(&factors));
        }
        if let (k, Some(core)) = self.coefficient(body)
            && core != body
        {
            let sum = self.fold_sum(axes, core);
            return Some(self.scale(k, sum));
        }
        let varies = |s: &Simplifier, id: Id| axes.iter().any(|a| s.b.free(id).contains(a));
        let (inside, mut outside): (Vec<_>, Vec<_>) = self.factors(body).into_iter().partition(|f| varies(self, f.0));
        if outside.is_empty() {
            return None;
        }
        let inside = self.product(&inside);
        outside.push((self.fold_sum(axes, inside), 1));
        Some(self.product(&outside))
    }

    /// Rule (e): distributes over a sum, or over a product with one sum, and keeps the result only if it is constant. From
    /// a sum it drops the terms whose own sum is 0. This removes `sum(x - mean)` of layer norm and the derivative of
    /// softmax's maximum. Distributing in other cases would lose accuracy: `sum(x) - n * m` for `sum(x - m)`.
    fn speculate(&mut self, axes: &[Axis], body: Id) -> Option<Id> {
        if self.speculations >= SPECULATIONS {
            return None;
        }
        if self.speculations == 0 {
            self.budget = BUDGET;
        }
        let parts = self.distribute(body)?;
        self.budget = self.budget.checked_sub(parts.len())?;
        self.speculations += 1;
        let sums: Vec<(f64, Id)> = parts.iter().map(|&(k, id)| (k, self.fold_sum(axes, id))).collect();
        let total = self.sum(0.0, &sums);
        self.speculations -= 1;
        if self.b.as_float(total).is_some() {
            return Some(total);
        }
        let keep: Vec<(f64, Id)> = parts.iter().zip(&sums).filter(|(_, s)| !self.is_zero(s.1)).map(|x| *x.0).collect();
        if self.terms(body).is_none() || keep.len() == parts.len() {
            return None;
        }
        let rest = self.sum(0.0, &keep);
        Some(self.fold_sum(axes, rest))
    }

    fn distribute(&mut self, body: Id) -> Option<Vec<(f64, Id)>> {
        let with_constant = |s: &mut Simplifier, c: f64, mut terms: Vec<(f64, Id)>| {
            if c != 0.0 {
                terms.push((c, s.b.float(1.0)));
            }
            terms
        };
        if let Some((c, terms)) = self.terms(body) {
            return Some(with_constant(self, c, terms));
        }
        let factors = self.factors(body);
        let is_sum = |f: &&(Id, i64)| f.1 == 1 && self.terms(f.0).is_some_and(|(_, terms)| terms.len() > 1);
        let sums: Vec<(Id, i64)> = factors.iter().filter(is_sum).copied().collect();
        let [sum] = sums[..] else { return None };
        let (c, terms) = self.terms(sum.0)?;
        let rest: Vec<(Id, i64)> = factors.into_iter().filter(|f| *f != sum).collect();
        let terms = with_constant(self, c, terms);
        let times_rest = |(k, id): (f64, Id)| (k, self.product(&[&rest[..], &[(id, 1)]].concat()));
        Some(terms.into_iter().map(times_rest).collect())
    }

    /// Rule (h): `sum over j of select(j == e, v, 0)` is `v` at `j = e`, if `e` is a position of `j`; otherwise 0.
    fn one_hot(&mut self, axes: &[Axis], body: Id) -> Option<Id> {
        let Node::Select(q, v, zero) = self.b.node(body) else { return None };
        let Node::Binary(Binary::Eq, a, b) = self.b.node(q) else { return None };
        if !self.is_zero(zero) {
            return None;
        }
        for (index, e) in [(a, b), (b, a)] {
            let Node::Index(axis) = self.b.node(index) else { continue };
            if !axes.contains(&axis) || self.b.free(e).contains(&axis) || self.has_scan(v, axis) {
                continue;
            }
            let mut picked = subst(self, v, &[(axis, e)]);
            if !self.is_position(e, axis) {
                let (zero_int, extent) = (self.b.int(0), self.b.extent(axis));
                let (low, high) = (self.b.le(zero_int, e), self.b.lt(e, extent));
                let inside = self.b.and(low, high);
                picked = self.b.select(inside, picked, zero);
            }
            let rest: Vec<Axis> = axes.iter().copied().filter(|&a| a != axis).collect();
            return Some(self.fold_sum(&rest, picked));
        }
        None
    }

    /// Whether a scan along `axis` would have to be read at another place, which costs more than it saves.
    fn has_scan(&self, id: Id, axis: Axis) -> bool {
        let varies = |id: Id| self.b.free(id).contains(&axis);
        let nodes = self.b.reach(&[id], &varies);
        nodes.into_iter().any(|id| varies(id) && matches!(self.b.node(id), Node::Scan { .. }))
    }

    /// Whether `e` is known to be a position along `axis`: a position along an axis of the same extent, the place of a
    /// maximum over such an axis, or what indexes such a dimension in a load of the primal without a guard.
    fn is_position(&self, e: Id, axis: Axis) -> bool {
        let extent = self.b.extent(axis);
        if let Node::Index(other) = self.b.node(e) {
            return self.b.extent(other) == extent;
        }
        if let Node::Fold(Fold::ArgMax | Fold::ArgMin, run, _) = self.b.node(e) {
            return matches!(self.b.bound(run)[..], [only] if self.b.extent(only) == extent);
        }
        (0..self.frozen.0).map(Id).any(|id| {
            let Node::Load { arg, at, guard: false } = self.b.node(id) else { return false };
            let dims = self.b.args()[arg.at()].dims.iter();
            self.b.links(at).iter().zip(dims).any(|(l, &dim)| l.id == e && dim == extent)
        })
    }
}
