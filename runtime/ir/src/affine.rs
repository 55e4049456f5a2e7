//! Index expressions: what they are along each axis, and whether they meet.

use crate::build::Builder;
use crate::kernel::{Axis, Id, Node};

/// An index `rest + k1 * axis1 + ..`.
#[derive(Clone, Debug)]
pub(crate) struct Affine {
    pub(crate) terms: Vec<(Axis, i64)>,
    /// What does not vary.
    pub(crate) rest: Id,
}

/// The parts of an index; none if it varies in another way, as an index that is read from an argument does.
pub(crate) fn affine(b: &mut Builder, id: Id) -> Option<Affine> {
    let (c, parts) = b.affine_parts(id);
    let (mut terms, mut rest) = (vec![], vec![]);
    for (k, id) in parts {
        if let Node::Index(axis) = b.node(id) {
            terms.push((axis, k));
        } else if b.free(id).is_empty() {
            rest.push((k, id));
        } else {
            return None;
        }
    }
    let rest = b.affine(c, &rest);
    Some(Affine { terms, rest })
}

/// Whether different positions give different places.
pub(crate) fn injective(b: &Builder, at: &[Affine]) -> bool {
    let mut seen = vec![];
    at.iter().all(|index| {
        let mut terms = index.terms.clone();
        terms.sort_by_key(|t| t.1.unsigned_abs());
        // Each step is larger than all smaller ones together can reach.
        let mut reach = Some(1i64);
        terms.iter().all(|&(axis, k)| {
            let fits = reach.is_some_and(|reach| k.checked_abs().is_some_and(|k| k >= reach)) && !seen.contains(&axis);
            seen.push(axis);
            let span = b.as_int(b.extent(axis)).and_then(|n| k.checked_abs()?.checked_mul(n.checked_sub(1)?.max(0)));
            reach = span.and_then(|span| reach?.checked_add(span));
            fits
        })
    })
}

/// Whether no place of one is a place of the other.
pub(crate) fn disjoint(b: &mut Builder, x: &[Affine], y: &[Affine]) -> bool {
    x.iter().zip(y).any(|(x, y)| {
        let offset = b.affine(0, &[(1, x.rest), (-1, y.rest)]);
        residues_differ(b, offset, x, y) || lies_below(b, x, y) || lies_below(b, y, x)
    })
}

/// Whether all steps have a divisor that the difference of the offsets lacks.
fn residues_differ(b: &Builder, offset: Id, x: &Affine, y: &Affine) -> bool {
    let step = x.terms.iter().chain(&y.terms).fold(0, |d, t| gcd(d, t.1.unsigned_abs()));
    let (c, terms) = b.affine_parts(offset);
    step > 1 && terms.iter().all(|t| t.0.unsigned_abs() % step == 0) && c.unsigned_abs() % step != 0
}

/// Whether the last place of `x` comes before the first of `y`, for all sizes.
fn lies_below(b: &mut Builder, x: &Affine, y: &Affine) -> bool {
    let (last, first) = (bound(b, x, true), bound(b, y, false));
    let gap = b.affine(0, &[(1, first), (-1, last)]);
    b.as_int(gap).is_some_and(|gap| gap > 0)
}

/// The last or the first place.
fn bound(b: &mut Builder, x: &Affine, last: bool) -> Id {
    let mut sum = vec![(1, x.rest)];
    for &(axis, k) in x.terms.iter().filter(|t| (t.1 > 0) == last) {
        let end = b.extent(axis);
        sum.push((k, b.affine(-1, &[(1, end)])));
    }
    b.affine(0, &sum)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
