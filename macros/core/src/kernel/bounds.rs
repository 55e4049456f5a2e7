//! Whether indices stay inside, by interval arithmetic over polynomials of dims.
//!
//! A dim counts as not negative, and the extent of an axis that an index depends on as at least 1, since the load is
//! not done otherwise. Where a proof needs some other dim to be at least 1, as that of `w[0]` does, it says so, and the
//! launch checks it.

use super::poly::{Atom, Poly, without};
use cotangent_ir::{Axis, Binary, Builder, Dim, Id, Kind, Node};
use std::collections::{BTreeMap, BTreeSet};

/// How deep the nodes of an index are followed.
const DEPTH: u32 = 64;

/// How many facts a proof may use.
const STEPS: u32 = 4;

/// What is known about indices.
pub(super) struct Bounds<'a> {
    b: &'a Builder,
    quotients: &'a Quotients,
    polys: BTreeMap<Id, Option<Poly>>,
    /// The dims that must be at least 1 for the proofs to hold.
    pub(super) nonempty: BTreeSet<Dim>,
}

/// The values of an index, both ends included.
#[derive(Clone)]
pub(super) struct Range {
    pub(super) first: Poly,
    pub(super) last: Poly,
}

/// Quotients that leave no remainder, as those in declared dims.
#[derive(Default)]
pub(super) struct Quotients {
    /// Dims that are multiples: `C` is `2 * (C / 2)`.
    multiples: Vec<(Dim, Poly)>,
    /// What is 0: `N - K - 2 * ((N - K) / 2)`.
    zeros: Vec<Poly>,
}

impl Quotients {
    /// Learns the quotients in a dim.
    pub(super) fn learn(&mut self, dim: &Poly) {
        for atom in dim.atoms() {
            let Atom::Quot(p, q) = atom else { continue };
            let Some(multiple) = q.times(&Poly::atom(atom.clone())) else { continue };
            match p.as_atom() {
                Some(&Atom::Dim(dim)) if !self.mentions(dim) && !q.atoms().any(|a| *a == Atom::Dim(dim)) => {
                    self.multiples.push((dim, multiple));
                }
                Some(_) | None => self.zeros.extend(p.plus(-1, &multiple)),
            }
        }
    }

    /// Whether a dim is, or is part of, a known multiple.
    fn mentions(&self, dim: Dim) -> bool {
        self.multiples.iter().any(|(d, value)| *d == dim || value.atoms().any(|a| *a == Atom::Dim(dim)))
    }
}

impl<'a> Bounds<'a> {
    pub(super) fn new(b: &'a Builder, quotients: &'a Quotients) -> Bounds<'a> {
        Bounds { b, quotients, polys: BTreeMap::new(), nonempty: BTreeSet::new() }
    }

    /// Whether an index is data, which the launch checks: it depends on more than axes and dims.
    pub(super) fn is_data(&self, index: Id) -> bool {
        let (mut todo, mut seen) = (vec![index], BTreeSet::new());
        while let Some(id) = todo.pop() {
            if !seen.insert(id) {
                continue;
            }
            match self.b.node(id) {
                Node::Const(..) | Node::Size(_) | Node::Index(_) => {}
                Node::Sum { .. } | Node::Prod { .. } | Node::Binary(..) => todo.extend(self.b.operands(id)),
                Node::Select(_, a, b) => todo.extend([a, b]),
                Node::Load { .. }
                | Node::Unary(..)
                | Node::Cast(..)
                | Node::Fold(..)
                | Node::Scan { .. }
                | Node::Random { .. }
                | Node::Call { .. } => return true,
            }
        }
        false
    }

    /// Whether an index is proved to lie in `0..extent`.
    pub(super) fn inside(&mut self, index: Id, extent: Id) -> bool {
        let Some(extent) = self.poly(extent, DEPTH) else { return false };
        self.not_negative(index, DEPTH) && self.below(index, &extent, DEPTH)
    }

    /// The values of an index, where they are known.
    pub(super) fn range_of(&mut self, index: Id) -> Option<Range> {
        let poly = self.poly(index, DEPTH)?;
        self.range(&poly, DEPTH)
    }

    /// An integer node as a polynomial; nothing where that gets too large.
    pub(super) fn polynomial(&mut self, id: Id) -> Option<Poly> {
        self.poly(id, DEPTH)
    }

    fn not_negative(&mut self, index: Id, depth: u32) -> bool {
        if depth == 0 {
            return false;
        }
        match self.b.node(index) {
            Node::Select(_, a, b) | Node::Binary(Binary::Min, a, b) => {
                self.not_negative(a, depth - 1) && self.not_negative(b, depth - 1)
            }
            Node::Binary(Binary::Max, a, b) => self.not_negative(a, depth - 1) || self.not_negative(b, depth - 1),
            _ => {
                let facts = self.facts(index);
                self.range_of(index).is_some_and(|range| self.prove(&range.first, &facts))
            }
        }
    }

    fn below(&mut self, index: Id, extent: &Poly, depth: u32) -> bool {
        if depth == 0 {
            return false;
        }
        match self.b.node(index) {
            Node::Select(_, a, b) | Node::Binary(Binary::Max, a, b) => {
                self.below(a, extent, depth - 1) && self.below(b, extent, depth - 1)
            }
            Node::Binary(Binary::Min, a, b) => self.below(a, extent, depth - 1) || self.below(b, extent, depth - 1),
            _ => {
                let facts = self.facts(index);
                let room = self.range_of(index).and_then(|r| extent.plus(-1, &r.last)?.plus(-1, &Poly::constant(1)));
                room.is_some_and(|room| self.prove(&room, &facts))
            }
        }
    }

    /// What is not negative because the axes of an index have positions.
    fn facts(&mut self, index: Id) -> Vec<Poly> {
        let axes: Vec<Axis> = self.b.free(index).to_vec();
        axes.into_iter().filter_map(|axis| self.last(axis)).collect()
    }

    /// The last position of an axis.
    fn last(&mut self, axis: Axis) -> Option<Poly> {
        self.poly(self.b.extent(axis), DEPTH)?.plus(-1, &Poly::constant(1))
    }

    fn poly(&mut self, id: Id, depth: u32) -> Option<Poly> {
        if let Some(known) = self.polys.get(&id) {
            return known.clone();
        }
        let poly = if depth == 0 { None } else { self.new_poly(id, depth - 1) };
        self.polys.insert(id, poly.clone());
        poly
    }

    fn new_poly(&mut self, id: Id, depth: u32) -> Option<Poly> {
        match self.b.node(id) {
            Node::Const(Kind::Int, n) => Some(Poly::constant(n.as_int())),
            Node::Size(dim) => Some(Poly::atom(Atom::Dim(dim))),
            Node::Index(axis) => Some(Poly::atom(Atom::Axis(axis))),
            Node::Sum { kind: Kind::Int, c, terms } => {
                let mut sum = Poly::constant(c.as_int());
                for link in self.b.links(terms) {
                    sum = sum.plus(link.k.as_int(), &self.poly(link.id, depth)?)?;
                }
                Some(sum)
            }
            Node::Prod { kind: Kind::Int, factors } => {
                let mut product = Poly::constant(1);
                for link in self.b.links(factors) {
                    product = product.times(&self.poly(link.id, depth)?.power(link.k.as_int())?)?;
                }
                Some(product)
            }
            Node::Binary(Binary::Quot, a, b) => self.poly(a, depth)?.quotient(&self.poly(b, depth)?),
            Node::Binary(Binary::Rem, a, b) => self.poly(a, depth)?.remainder(&self.poly(b, depth)?),
            _ => Some(Poly::atom(Atom::Other(id))),
        }
    }

    /// The values of a polynomial.
    fn range(&mut self, poly: &Poly, depth: u32) -> Option<Range> {
        let mut sum = Range { first: Poly::default(), last: Poly::default() };
        for (factors, k) in poly.terms() {
            let term = self.product_range(factors, depth)?;
            let (low, high) = if k < 0 { (&term.last, &term.first) } else { (&term.first, &term.last) };
            sum = Range { first: sum.first.plus(k, low)?, last: sum.last.plus(k, high)? };
        }
        Some(sum)
    }

    /// The values of a product: of dims, which are not negative, with one factor of any range or with several that are
    /// not negative.
    fn product_range(&mut self, factors: &[Atom], depth: u32) -> Option<Range> {
        let (mut rest, mut ranges) = (Poly::constant(1), vec![]);
        for factor in factors {
            match factor {
                Atom::Dim(_) => rest = rest.times(&Poly::atom(factor.clone()))?,
                Atom::Axis(_) | Atom::Quot(..) | Atom::Rem(..) | Atom::Other(_) => {
                    ranges.push(self.atom_range(factor, depth)?);
                }
            }
        }
        if let [only] = &ranges[..] {
            return Some(Range { first: only.first.times(&rest)?, last: only.last.times(&rest)? });
        }
        let mut last = rest.clone();
        for range in &ranges {
            if !self.prove(&range.first, &[]) {
                return None;
            }
            last = last.times(&range.last)?;
        }
        let first = if ranges.is_empty() { rest } else { Poly::default() };
        Some(Range { first, last })
    }

    fn atom_range(&mut self, atom: &Atom, depth: u32) -> Option<Range> {
        let depth = depth.checked_sub(1)?;
        match atom {
            Atom::Dim(_) => Some(Range { first: Poly::atom(atom.clone()), last: Poly::atom(atom.clone()) }),
            Atom::Axis(axis) => Some(Range { first: Poly::default(), last: self.last(*axis)? }),
            // Of dims alone: a number, if an unknown one.
            Atom::Quot(p, q) | Atom::Rem(p, q) if is_size(p) && is_size(q) => {
                Some(Range { first: Poly::atom(atom.clone()), last: Poly::atom(atom.clone()) })
            }
            Atom::Quot(p, q) => {
                if !self.is_positive(q, p) {
                    return None;
                }
                let (p, q) = (self.range(p, depth)?, self.multiple(q)?);
                let (first, last) = (self.multiple(&p.first)?, self.multiple(&p.last)?);
                Some(Range { first: first.over(&q)?, last: last.over(&q)? })
            }
            Atom::Rem(p, q) => {
                let (range, last) = (self.range(p, depth), q.plus(-1, &Poly::constant(1))?);
                if let Some(range) = range
                    && self.prove(&range.first, &[])
                    && self.prove(&last.plus(-1, &range.last)?, &[])
                {
                    return Some(range);
                }
                (is_size(q) && self.prove(&last, &[])).then_some(Range { first: Poly::default(), last })
            }
            Atom::Other(_) => None,
        }
    }

    /// Whether a divisor is at least 1 wherever its dividend is computed. It is where it is a factor of the extent of
    /// an axis that the dividend depends on.
    fn is_positive(&mut self, divisor: &Poly, dividend: &Poly) -> bool {
        if !is_size(divisor) {
            return false;
        }
        let extents: Vec<Id> = dividend.atoms().filter_map(axis).map(|axis| self.b.extent(axis)).collect();
        for extent in extents {
            if let Some(extent) = self.poly(extent, DEPTH)
                && let (Some(extent), Some(divisor)) = (extent.factors(), divisor.factors())
                && extent.iter().chain(divisor).all(not_negative)
                && without(extent, divisor).is_some()
            {
                return true;
            }
        }
        divisor.plus(-1, &Poly::constant(1)).is_some_and(|least| self.prove(&least, &[]))
    }

    /// With dims written as multiples.
    fn multiple(&self, poly: &Poly) -> Option<Poly> {
        self.quotients.multiples.iter().try_fold(poly.clone(), |poly, (dim, value)| poly.replace(*dim, value))
    }

    /// Whether a polynomial of dims is proved not to be negative, given some that are not.
    fn prove(&mut self, poly: &Poly, facts: &[Poly]) -> bool {
        let Some(poly) = self.multiple(poly) else { return false };
        let none = Poly::default();
        let zeros = &self.quotients.zeros;
        let negated: Vec<Poly> = zeros.iter().filter_map(|zero| none.plus(-1, zero)).collect();
        let facts = facts.iter().chain(zeros).chain(&negated).map(|fact| self.multiple(fact));
        let Some(mut facts) = facts.collect::<Option<Vec<Poly>>>() else { return false };
        if deduce(&poly, &facts, STEPS).is_some() {
            return true;
        }
        let known = facts.len();
        let dims: BTreeSet<Dim> = poly.atoms().filter_map(dim).collect();
        let dims: Vec<Dim> = dims.into_iter().collect();
        facts.extend(dims.iter().filter_map(|&dim| Poly::atom(Atom::Dim(dim)).plus(-1, &Poly::constant(1))));
        let Some(used) = deduce(&poly, &facts, STEPS) else { return false };
        self.nonempty.extend(used.iter().filter_map(|at| dims.get(at.checked_sub(known)?)));
        true
    }
}

/// The facts by which `poly` is not negative: it is a sum of multiples of them and of what is not negative by itself.
fn deduce(poly: &Poly, facts: &[Poly], steps: u32) -> Option<Vec<usize>> {
    let bad = poly.terms().find(|(factors, k)| *k < 0 || !factors.iter().all(not_negative));
    let Some((factors, k)) = bad else { return Some(vec![]) };
    if steps == 0 {
        return None;
    }
    for (at, fact) in facts.iter().enumerate() {
        // A multiple of the fact that takes the term away, and is itself not negative.
        for (other, c) in fact.terms().filter(|(_, c)| (*c < 0) == (k < 0)) {
            let times = k.checked_div(c).filter(|times| times.checked_mul(c) == Some(k));
            let rest = without(factors, other).filter(|rest| rest.iter().all(not_negative));
            let (Some(times), Some(rest)) = (times, rest) else { continue };
            let remaining = fact.times(&Poly::term(rest, times)).and_then(|multiple| poly.plus(-1, &multiple));
            if let Some(mut used) = remaining.and_then(|poly| deduce(&poly, facts, steps - 1)) {
                used.push(at);
                return Some(used);
            }
        }
    }
    None
}

/// Whether an atom over dims cannot be negative by itself.
fn not_negative(atom: &Atom) -> bool {
    match atom {
        Atom::Dim(_) => true,
        Atom::Quot(p, q) | Atom::Rem(p, q) => [p, q].into_iter().all(|p| {
            let mut terms = p.terms();
            terms.all(|(factors, k)| k > 0 && factors.iter().all(not_negative))
        }),
        Atom::Axis(_) | Atom::Other(_) => false,
    }
}

fn axis(atom: &Atom) -> Option<Axis> {
    match atom {
        Atom::Axis(axis) => Some(*axis),
        Atom::Dim(_) | Atom::Quot(..) | Atom::Rem(..) | Atom::Other(_) => None,
    }
}

fn dim(atom: &Atom) -> Option<Dim> {
    match atom {
        Atom::Dim(dim) => Some(*dim),
        Atom::Axis(_) | Atom::Quot(..) | Atom::Rem(..) | Atom::Other(_) => None,
    }
}

/// Whether a polynomial is over dims alone.
pub(super) fn is_size(poly: &Poly) -> bool {
    poly.atoms().all(|atom| match atom {
        Atom::Dim(_) => true,
        Atom::Axis(_) | Atom::Other(_) => false,
        Atom::Quot(p, q) | Atom::Rem(p, q) => is_size(p) && is_size(q),
    })
}
