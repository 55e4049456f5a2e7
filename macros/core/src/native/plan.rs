//! Which outputs are computed together, and how.

use super::code::Kernels;
use super::contract::is_matrix_product;
use super::{Access, Domain};
use cotangent_ir::{Axis, Fold, Id, Kind, Mode, Node, OutDef, Store};
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
    /// What is written: for a sum over rows, what each row adds; for a total, what each element or row adds.
    pub(super) node: Id,
    /// The coefficient of a sum over rows, or of a total.
    pub(super) factor: f64,
    /// Of an output with a value for each element, the dim that is the column.
    pub(super) dim: usize,
    /// Whether a total is over the column too.
    pub(super) along: bool,
}

/// Outputs of a kernel, each in one group.
pub(super) fn groups(k: &Kernels<'_>, outs: &[usize]) -> Vec<Group> {
    let mut groups: Vec<Group> = vec![];
    for &at in outs {
        let Some((rows, column, written)) = tiles(k, at, &k.k.outs[at]) else {
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
    let plain = |id: &Id| match k.node(*id) {
        Node::Fold(..) | Node::Scan { .. } => false,
        Node::Load { .. } => k.plain_load(*id).is_some(),
        _ => true,
    };
    let values = values(k, &roots);
    let positions = values.iter().any(|id| matches!(k.node(*id), Node::Index(_)));
    let pointwise = tiles.outs.iter().all(|w| w.access == Access::Each || w.access == Access::Total && w.along)
        && values.iter().all(plain)
        && (!positions || tiles.rows.is_empty());
    if pointwise { Domain::Pointwise } else { Domain::Rows }
}

/// What is computed for some roots: axes as places of loads are not.
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

/// The store of an output that writes each element once, at its own place.
pub(super) fn plain_store<'k>(k: &Kernels<'_>, out: &'k OutDef) -> Option<&'k Store> {
    let [store] = &*out.stores else { return None };
    let own = store.at.len() == store.over.len()
        && store.at.iter().zip(store.over.iter()).all(|(id, axis)| k.bare(*id) == Some(*axis))
        && store.over.iter().zip(out.dims.iter()).all(|(axis, dim)| k.extent(*axis) == *dim);
    (out.mode == Mode::Set && own).then_some(store)
}

/// The layout of one output, if it has one.
pub(super) fn tiles(k: &Kernels<'_>, at: usize, out: &OutDef) -> Option<(Vec<Axis>, Column, Written)> {
    let store = plain_store(k, out)?;
    if values(k, &[store.node]).into_iter().any(|id| is_matrix_product(k, id)) {
        return None;
    }
    let over = store.over.to_vec();
    if over.is_empty() && !matches!(k.node(store.node), Node::Fold(..) | Node::Sum { .. }) {
        // What is made of a total is computed once that is there.
        return None;
    }
    let sum = |over: &[Axis]| match over {
        [] => total(k, at, store.node),
        &[axis] => summed(k, at, axis, store.node),
        _ => None,
    };
    // Several axes are no row; runs of elements may be along any number of them.
    let alone = |(rows, column, written): &(Vec<Axis>, Column, Written)| {
        let tiles = Tiles { domain: Domain::Rows, rows: rows.clone(), column: *column, outs: vec![written.clone()] };
        domain(k, &tiles) == Domain::Pointwise
    };
    let fits = |found: &(Vec<Axis>, Column, Written)| !k.is_group(found.1.extent) || alone(found);
    let found = sum(&over).filter(fits).or_else(|| scanned(k, at, &over, store.node).filter(fits));
    found.or_else(|| elements(k, at, &over, store.node).filter(fits))
}

/// A sum with a constant coefficient: that, the axes and the body.
fn scaled_sum(k: &Kernels<'_>, node: Id) -> Option<(f64, Vec<Axis>, Id)> {
    let (factor, fold) = match k.node(node) {
        Node::Sum { kind: Kind::Float, c, terms } if c.as_float() == 0.0 => match k.k.links(terms) {
            [link] => (link.k.as_float(), link.id),
            _ => return None,
        },
        _ => (1.0, node),
    };
    let Node::Fold(Fold::Sum, run, body) = k.node(fold) else { return None };
    Some((factor, k.bound(run), body))
}

/// `out[c] = factor * sum over rows of ..`.
fn summed(k: &Kernels<'_>, at: usize, axis: Axis, node: Id) -> Option<(Vec<Axis>, Column, Written)> {
    let (factor, rows, body) = scaled_sum(k, node)?;
    let column = Column { extent: k.extent(axis), axis };
    let written = Written { out: at, access: Access::PerColumn, node: body, factor, dim: 0, along: false };
    let fits = k.kind(body) == Kind::Float && !rows.is_empty() && fits(k, body, &rows, column);
    fits.then_some((rows, column, written))
}

/// `out = factor * sum over everything of ..`: of elements, or of what each row has.
fn total(k: &Kernels<'_>, at: usize, node: Id) -> Option<(Vec<Axis>, Column, Written)> {
    let (factor, mut rows, body) = scaled_sum(k, node)?;
    let inner = folded(k, body);
    let column = match inner.as_deref() {
        None => *rows.last()?,
        Some(&[axis]) => rows.iter().rfind(|row| k.extent(**row) == k.extent(axis)).copied().unwrap_or(axis),
        Some(_) => return None,
    };
    let along = rows.contains(&column);
    rows.retain(|row| *row != column);
    let column = Column { extent: k.extent(column), axis: column };
    let written = Written { out: at, access: Access::Total, node: body, factor, dim: 0, along };
    let number = matches!(k.kind(body), Kind::Float | Kind::Int);
    (number && fits(k, body, &rows, column)).then_some((rows, column, written))
}

/// A running reduction along an axis, of what lies on rows along it.
fn scanned(k: &Kernels<'_>, at: usize, over: &[Axis], node: Id) -> Option<(Vec<Axis>, Column, Written)> {
    let Node::Scan { axis, body, .. } = k.node(node) else { return None };
    let dim = over.iter().position(|a| *a == axis)?;
    let rows: Vec<Axis> = over.iter().copied().filter(|a| *a != axis).collect();
    let column = Column { extent: k.extent(axis), axis };
    let written = Written { out: at, access: Access::Each, node, factor: 1.0, dim, along: false };
    fits(k, body, &rows, column).then_some((rows, column, written))
}

/// The axes of a reduction among what is computed for a node, if there is one.
fn folded(k: &Kernels<'_>, node: Id) -> Option<Vec<Axis>> {
    values(k, &[node]).into_iter().find_map(|id| match k.node(id) {
        Node::Fold(_, run, _) => Some(k.bound(run)),
        _ => None,
    })
}

/// Outputs whose every element, or row, is computed from the same element, or row, of arguments.
fn elements(k: &Kernels<'_>, at: usize, over: &[Axis], node: Id) -> Option<(Vec<Axis>, Column, Written)> {
    let folded = folded(k, node);
    let dim = over.len().saturating_sub(1);
    let written = |access| Written { out: at, access, node, factor: 1.0, dim, along: false };
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

/// Whether everything that a node needs lies on a row: loads at plain axes, reductions along the column alone, none of
/// which is the same for several rows.
fn fits(k: &Kernels<'_>, node: Id, rows: &[Axis], column: Column) -> bool {
    let is_column = |axis: Axis| !rows.contains(&axis) && k.extent(axis) == column.extent;
    values(k, &[node]).into_iter().all(|id| {
        let free = k.free(id);
        let columns = free.iter().filter(|a| is_column(**a)).count();
        let known = free.iter().all(|a| rows.contains(a) || is_column(*a));
        let shape = match k.node(id) {
            Node::Fold(_, run, _) => {
                matches!(k.bound(run)[..], [axis] if is_column(axis)) && rows.iter().all(|row| free.contains(row))
            }
            Node::Load { arg, .. } => {
                // An element of the row may be picked by a value that the row has.
                let picked = |(axes, dim, at): (Vec<Option<Axis>>, usize, Id)| {
                    k.k.args[arg.at()].dims[dim] == column.extent
                        && k.free(at).iter().all(|axis| rows.contains(axis))
                        && axes.iter().flatten().all(|axis| rows.contains(axis))
                };
                k.plain_load(id).is_some() || k.pick(id).is_some_and(picked)
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
        Written { out, access: Access::Each, node, factor: 1.0, dim: 0, along: false }
    };
    let outs = k.k.outs.iter().enumerate().map(written).collect();
    // Nothing has this axis: scalars have none.
    let column = Column { extent: Id(u32::MAX), axis: Axis(u32::MAX) };
    Tiles { domain: Domain::Pointwise, rows: vec![], column, outs }
}
