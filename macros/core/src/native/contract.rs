//! Matrix products among the reductions of a kernel.

use super::code::Kernels;
use cotangent_ir::{Axis, Fold, Id, Kind, Node, Num};
use std::collections::BTreeSet;

/// A sum over products of two factors, each of which has axes of its own: `scale * outer * sum(a * b)`.
pub(super) struct Contraction {
    /// A constant.
    pub(super) scale: f64,
    /// What does not vary along the axes that are summed over.
    pub(super) outer: Vec<Power>,
    /// The factors of the matrix product.
    pub(super) factors: [Factor; 2],
}

/// A node and an exponent.
pub(super) type Power = (Id, i64);

/// A product that is 0 where a condition says so.
#[derive(Clone, Default)]
pub(super) struct Factor {
    pub(super) powers: Vec<Power>,
    /// Truth values, and what each must be for the product to count.
    pub(super) masks: Vec<(Id, bool)>,
}

impl Factor {
    /// The node that is all of it.
    pub(super) fn single(&self) -> Option<Id> {
        match (&self.powers[..], &self.masks[..]) {
            (&[(id, 1)], []) => Some(id),
            _ => None,
        }
    }

    fn ids(&self) -> impl Iterator<Item = Id> + '_ {
        self.powers.iter().map(|power| power.0).chain(self.masks.iter().map(|mask| mask.0))
    }

    fn axes(&self, k: &Kernels<'_>) -> BTreeSet<Axis> {
        self.ids().flat_map(|id| k.free(id).iter().copied()).collect()
    }
}

/// The most factors that are shared out between two matrices.
const FACTORS: usize = 5;

/// Whether a node is a product of two matrices, and not of a matrix and a vector, which a row can sum as it goes.
pub(super) fn is_matrix_product(k: &Kernels<'_>, id: Id) -> bool {
    contraction(k, id).is_some_and(|product| {
        let [a, b] = product.factors.map(|factor| factor.axes(k));
        !a.is_subset(&b) && !b.is_subset(&a)
    })
}

impl Contraction {
    /// Whether the sum is the matrix product alone.
    pub(super) fn is_whole(&self) -> bool {
        self.scale == 1.0 && self.outer.is_empty()
    }
}

/// A node as a matrix product, if it is one that a library does better than loops.
///
/// Factors are loads of all of an argument, or values that are worth computing beforehand: those that read at most one
/// element for each of their own. A window along an axis is neither.
pub(super) fn contraction(k: &Kernels<'_>, id: Id) -> Option<Contraction> {
    let Node::Fold(Fold::Sum, run, body) = k.node(id) else { return None };
    if k.kind(body) != Kind::Float {
        return None;
    }
    let bound: BTreeSet<Axis> = k.bound(run).into_iter().collect();
    let (mut body, mut masks) = (body, vec![]);
    while let Node::Select(q, a, b) = k.node(body) {
        match [a, b].map(|id| matches!(k.node(id), Node::Const(_, n) if n.as_float() == 0.0)) {
            [false, true] => masks.push((q, true)),
            [true, false] => masks.push((q, false)),
            [_, _] => return None,
        }
        body = if masks.last() == Some(&(q, true)) { a } else { b };
    }
    let (mut scale, mut all) = (1.0, vec![]);
    flatten(k, body, 1, &mut scale, &mut all);
    let (inner, outer): (Vec<Power>, Vec<Power>) =
        all.into_iter().partition(|(id, _)| k.free(*id).iter().any(|axis| bound.contains(axis)));
    if !(2..=FACTORS).contains(&inner.len()) {
        return None;
    }
    // Each way to share out the factors, the first to the left.
    let splits = (0..(1u32 << (inner.len() - 1)) - 1).filter_map(|set| {
        let left = |at: usize| at == 0 || set & (1 << (at - 1)) != 0;
        let side = |wanted: bool| Factor {
            powers: (0..inner.len()).filter(|at| left(*at) == wanted).map(|at| inner[at]).collect(),
            masks: vec![],
        };
        let mut factors = [side(true), side(false)];
        for mask in &masks {
            let holds = |factor: &&mut Factor| k.free(mask.0).iter().all(|axis| factor.axes(k).contains(axis));
            factors.iter_mut().find(holds)?.masks.push(*mask);
        }
        Some((cost(k, &bound, &factors)?, factors))
    });
    let (_, factors) = splits.min_by_key(|(cost, _)| *cost)?;
    Some(Contraction { scale, outer, factors })
}

/// The factors of a product of floats, and its constants.
fn flatten(k: &Kernels<'_>, id: Id, power: i64, scale: &mut f64, factors: &mut Vec<Power>) {
    match k.node(id) {
        Node::Prod { factors: run, .. } if power == 1 => {
            k.k.links(run).iter().for_each(|link| flatten(k, link.id, link.k.as_int(), scale, factors));
        }
        Node::Sum { c: Num::NO_FLOAT, terms, .. } if power == 1 && terms.len == 1 => {
            for link in k.k.links(terms) {
                *scale *= link.k.as_float();
                flatten(k, link.id, 1, scale, factors);
            }
        }
        _ => factors.push((id, power)),
    }
}

/// How many values are computed beforehand, and how many axes they have; `None` where the factors are no matrices.
fn cost(k: &Kernels<'_>, bound: &BTreeSet<Axis>, factors: &[Factor; 2]) -> Option<(usize, usize)> {
    let [a, b] = factors.each_ref().map(|factor| factor.axes(k));
    let summed = bound.is_subset(&a) && bound.is_subset(&b);
    let (rows, columns) = (a.difference(&b).count(), b.difference(&a).count());
    let computed = factors.iter().filter(|factor| factor.single().and_then(|id| whole_load(k, id)).is_none());
    let count = computed.clone().count();
    // A vector times a matrix reads each element once: computing it beforehand would cost more than the loops.
    let matrices = if count == 0 { rows + columns > 0 } else { rows > 0 && columns > 0 };
    let cheap = computed.clone().all(|factor| factor.ids().all(|id| reads_once(k, id)));
    (summed && matrices && cheap).then_some((count, a.len() + b.len()))
}

/// The argument that a node is all of, and the axis along each of its dims.
pub(super) fn whole_load(k: &Kernels<'_>, id: Id) -> Option<(u32, Vec<Axis>)> {
    match k.node(id) {
        Node::Load { arg, .. } => Some((arg.0, k.plain_load(id)?)),
        _ => None,
    }
}

/// Whether the loads behind a value read no element for several of its positions along one axis.
fn reads_once(k: &Kernels<'_>, id: Id) -> bool {
    k.reach(&[id], |_| false).into_iter().all(|id| match k.node(id) {
        Node::Load { at, .. } => k.links(at).into_iter().all(|at| k.free(at).len() <= 1),
        _ => true,
    })
}
