//! Which outputs are computed together, and how.

use super::code::Kernels;
use super::{Access, Domain};
use cotangent_ir::{Axis, Fold, Id, Mode, Node, OutDef, Store};
use std::collections::BTreeSet;

/// Outputs that one launch computes.
pub(super) enum Group {
    /// Over runs of elements, or over rows and a column.
    Tiles(Tiles),
    /// One output by nested loops.
    Nest { out: usize },
}

/// The layout that outputs of one launch share.
pub(super) struct Tiles {
    pub(super) domain: Domain,
    /// The axes of rows, outermost first.
    pub(super) rows: Vec<Axis>,
    /// The extent of the last axis of the index space, and one axis that has it.
    pub(super) column: Column,
    pub(super) outs: Vec<Written>,
}

/// The last axis of an index space; every axis of that extent which is no row stands for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) extent: Id,
    pub(super) axis: Axis,
}

/// An output of such a launch.
#[derive(Clone)]
pub(super) struct Written {
    pub(super) out: usize,
    pub(super) access: Access,
    /// What is written: for a sum over rows, what each row adds.
    pub(super) node: Id,
    /// The coefficient of a sum over rows.
    pub(super) factor: f64,
}

/// All outputs of a kernel, each in one group.
pub(super) fn groups(k: &Kernels<'_>) -> Vec<Group> {
    let mut groups: Vec<Group> = vec![];
    for (at, out) in k.k.outs.iter().enumerate() {
        let Some((rows, column, written)) = tiles(k, at, out) else {
            groups.push(Group::Nest { out: at });
            continue;
        };
        let joined = groups.iter_mut().find_map(|g| match g {
            Group::Tiles(t) if joins(t, &rows, column) => Some(t),
            Group::Tiles(_) | Group::Nest { .. } => None,
        });
        match joined {
            Some(tiles) => {
                if written.access == Access::Each {
                    (tiles.rows, tiles.column) = (rows, column);
                }
                tiles.outs.push(written);
            }
            None => groups.push(Group::Tiles(Tiles { domain: Domain::Rows, rows, column, outs: vec![written] })),
        }
    }
    for group in &mut groups {
        if let Group::Tiles(tiles) = group {
            tiles.domain = domain(k, tiles);
        }
    }
    groups
}

/// Whether an output over these rows can be computed with others: sums over rows take their rows in any order.
fn joins(tiles: &Tiles, rows: &[Axis], column: Column) -> bool {
    let set = |axes: &[Axis]| axes.iter().copied().collect::<BTreeSet<_>>();
    tiles.column.extent == column.extent && set(&tiles.rows) == set(rows)
}

/// Runs of elements, where no value depends on a position or on a whole row.
fn domain(k: &Kernels<'_>, tiles: &Tiles) -> Domain {
    let roots: Vec<Id> = tiles.outs.iter().map(|w| w.node).collect();
    let plain = |id: &Id| !matches!(k.node(*id), Node::Fold(..) | Node::Scan { .. }) && picked(k, *id).is_none();
    let values = values(k, &roots);
    let positions = values.iter().any(|id| matches!(k.node(*id), Node::Index(_)));
    let pointwise = tiles.outs.iter().all(|w| w.access == Access::Each)
        && values.iter().all(plain)
        && (!positions || tiles.rows.is_empty());
    if pointwise { Domain::Pointwise } else { Domain::Rows }
}

/// What is computed for some roots: of the places of loads only what is no bare position.
pub(super) fn values(k: &Kernels<'_>, roots: &[Id]) -> BTreeSet<Id> {
    let (mut seen, mut open) = (BTreeSet::new(), roots.to_vec());
    while let Some(id) = open.pop() {
        if !seen.insert(id) {
            continue;
        }
        match k.node(id) {
            Node::Load { at, .. } => open.extend(k.links(at).into_iter().filter(|at| k.bare(*at).is_none())),
            Node::Fold(_, _, body) => open.push(body),
            _ => open.extend(k.operands(id)),
        }
    }
    seen
}

/// The place along the last axis, if a load reads one element of a row, at a place that is computed for the row.
pub(super) fn picked(k: &Kernels<'_>, id: Id) -> Option<Id> {
    let Node::Load { at, .. } = k.node(id) else { return None };
    let last = *k.links(at).last()?;
    k.bare(last).is_none().then_some(last)
}

/// The store of an output that writes each element once, at its own place.
pub(super) fn plain_store<'k>(k: &Kernels<'_>, out: &'k OutDef) -> Option<&'k Store> {
    let [store] = &*out.stores else { return None };
    let own = store.at.len() == store.over.len()
        && store.at.iter().zip(store.over.iter()).all(|(id, axis)| k.bare(*id) == Some(*axis))
        && store.over.iter().zip(out.dims.iter()).all(|(axis, dim)| k.extent(*axis) == *dim);
    (out.mode == Mode::Set && own).then_some(store)
}

/// The layout of one output, if it has one.
fn tiles(k: &Kernels<'_>, at: usize, out: &OutDef) -> Option<(Vec<Axis>, Column, Written)> {
    let store = plain_store(k, out)?;
    let over = store.over.to_vec();
    let (summed, elements) = (|| summed(k, at, &over, store.node), || elements(k, at, &over, store.node));
    match over.last().is_some_and(|last| runs_along(k, store.node, *last)) {
        true => summed().or_else(elements),
        false => elements().or_else(summed),
    }
}

/// Whether elements that lie beside each other in some argument differ in this axis.
fn runs_along(k: &Kernels<'_>, node: Id, axis: Axis) -> bool {
    k.reach(&[node], |_| false).into_iter().any(|id| match k.node(id) {
        Node::Load { at, .. } => k.links(at).last().is_some_and(|last| k.bare(*last) == Some(axis)),
        _ => false,
    })
}

/// `out[c] = factor * sum over rows of ..`.
fn summed(k: &Kernels<'_>, at: usize, over: &[Axis], node: Id) -> Option<(Vec<Axis>, Column, Written)> {
    let &[axis] = over else { return None };
    let (factor, fold) = match k.node(node) {
        Node::Sum { c, terms, .. } if c.as_float() == 0.0 => match k.k.links(terms) {
            [link] => (link.k.as_float(), link.id),
            _ => return None,
        },
        _ => (1.0, node),
    };
    let Node::Fold(Fold::Sum, run, body) = k.node(fold) else { return None };
    let rows = k.bound(run);
    let column = Column { extent: k.extent(axis), axis };
    let float = k.kind(body) == cotangent_ir::Kind::Float;
    let written = Written { out: at, access: Access::PerColumn, node: body, factor };
    (float && !rows.is_empty() && fits(k, body, &rows, column)).then_some((rows, column, written))
}

/// Outputs whose every element, or row, is computed from the same element, or row, of arguments.
fn elements(k: &Kernels<'_>, at: usize, over: &[Axis], node: Id) -> Option<(Vec<Axis>, Column, Written)> {
    let folded = values(k, &[node]).into_iter().find_map(|id| match k.node(id) {
        Node::Fold(_, run, _) => Some(k.bound(run)),
        _ => None,
    });
    let written = |access| Written { out: at, access, node, factor: 1.0 };
    let each = |last: Axis| {
        let rows = over[..over.len() - 1].to_vec();
        (rows, Column { extent: k.extent(last), axis: last }, written(Access::Each))
    };
    let found = match (folded.as_deref(), over.last()) {
        (None, Some(&last)) => each(last),
        (Some(&[axis]), Some(&last)) if k.extent(axis) == k.extent(last) && !k.free(node).is_empty() => each(last),
        (Some(&[axis]), _) => {
            let column = Column { extent: k.extent(axis), axis };
            (over.to_vec(), column, written(Access::PerRow))
        }
        (_, _) => return None,
    };
    fits(k, node, &found.0, found.1).then_some(found)
}

/// Whether everything that a node needs lies on a row: loads at plain axes, or of one element of a row, and reductions
/// along the column alone.
fn fits(k: &Kernels<'_>, node: Id, rows: &[Axis], column: Column) -> bool {
    let is_column = |axis: Axis| !rows.contains(&axis) && k.extent(axis) == column.extent;
    values(k, &[node]).into_iter().all(|id| {
        let free = k.free(id);
        let columns = free.iter().filter(|a| is_column(**a)).count();
        let known = free.iter().all(|a| rows.contains(a) || is_column(*a));
        let shape = match k.node(id) {
            Node::Fold(_, run, _) => matches!(k.bound(run)[..], [axis] if is_column(axis)),
            Node::Load { arg, at, guard } => {
                let (places, dims) = (k.links(at), &k.k.args[arg.at()].dims);
                let own = |(place, dim): (&Id, &Id)| k.bare(*place).filter(|axis| k.extent(*axis) == *dim);
                let axes: BTreeSet<Axis> = places.iter().zip(dims.iter()).filter_map(own).collect();
                match picked(k, id) {
                    None => !guard && axes.len() == places.len(),
                    Some(place) => {
                        axes.len() + 1 == places.len()
                            && axes.iter().all(|axis| rows.contains(axis))
                            && !k.free(place).iter().any(|axis| is_column(*axis))
                            && dims.last() == Some(&column.extent)
                    }
                }
            }
            Node::Scan { .. } => false,
            _ => true,
        };
        columns <= 1 && known && shape
    })
}

impl Tiles {
    /// Whether an axis is the column.
    pub(super) fn is_column(&self, k: &Kernels<'_>, axis: Axis) -> bool {
        !self.rows.contains(&axis) && k.extent(axis) == self.column.extent
    }
}

/// The layout of a kernel of scalars, each standing for the elements of a tensor: a column without rows.
pub(super) fn scalars(k: &Kernels<'_>) -> Tiles {
    let written = |(out, def): (usize, &OutDef)| {
        let node = def.stores.first().map_or(Id(0), |store| store.node);
        Written { out, access: Access::Each, node, factor: 1.0 }
    };
    let outs = k.k.outs.iter().enumerate().map(written).collect();
    // Nothing has this axis: scalars have none.
    let column = Column { extent: Id(u32::MAX), axis: Axis(u32::MAX) };
    Tiles { domain: Domain::Pointwise, rows: vec![], column, outs }
}
