//! From cotangents of loads to the gradient of an argument: the inverse of the loads' index maps.
//!
//! In order of preference:
//! 1. every load is at bare axes: the axes are renamed to the output's, and the cotangents added;
//! 2. every index is affine, and no element is read twice: one store a load;
//! 3. some index is data and no load is at bare axes: [`Mode::Add`];
//! 4. otherwise each element gathers from the positions that read it, which guards find.

use crate::affine::{Affine, affine, disjoint, injective};
use crate::kernel::{Arg, Axis, Binary, Id, Mode, Node, OutDef, Store};
use crate::rewrite::subst;
use crate::rules::Simplifier;
use crate::vjp::{output, zero_output};
use std::cmp::Reverse;
use std::collections::HashMap;

/// A load of an argument and the cotangent of what it read, a function of the axes free in `at`.
#[derive(Clone, Debug)]
pub(crate) struct Read {
    pub(crate) arg: Arg,
    pub(crate) at: Vec<Id>,
    pub(crate) guard: bool,
    pub(crate) cotangent: Id,
}

/// Nodes that are computed before, and the loads that read them.
pub(crate) type Staged = Vec<(Id, Id)>;

/// The gradient of an argument.
pub(crate) fn invert(s: &mut Simplifier, arg: Arg, reads: &[Read], staged: &mut Staged) -> OutDef {
    let def = &s.b.args()[arg.at()];
    let (name, dims) = (format!("d{}", def.name), def.dims.to_vec());
    let reads: Vec<&Read> = reads.iter().filter(|r| r.arg == arg).collect();
    if reads.is_empty() {
        return zero_output(s, &name, &dims);
    }
    let plain: Vec<bool> = reads.iter().map(|r| is_plain(s, &r.at, &dims)).collect();
    if !plain.iter().all(|&p| p) {
        let maps: Option<Vec<Vec<Affine>>> =
            reads.iter().map(|r| r.at.iter().map(|&id| affine(&mut s.b, id)).collect()).collect();
        match maps {
            Some(maps) if reads.iter().all(|r| !r.guard) && each_once(s, &maps) => {
                return stores(s, &name, &dims, &reads);
            }
            None if !plain.contains(&true) => return scatter(s, &name, &dims, &reads),
            Some(_) | None => {}
        }
    }
    let axes = output_axes(s, &reads, &dims);
    let mut terms = vec![];
    for (read, plain) in reads.iter().zip(plain) {
        let term = if plain { renamed(s, read, &axes) } else { guarded(s, read, &axes, &dims, staged) };
        terms.push((1.0, term));
    }
    let sum = s.sum(0.0, &terms);
    let node = s.polish(sum);
    let store = s.b.plain_store(&axes, node);
    output(&name, &dims, Mode::Set, vec![store])
}

/// Whether every index is an axis of its own that covers the dimension. An axis that is shorter does not: the gradient
/// would be read past its end.
fn is_plain(s: &Simplifier, at: &[Id], dims: &[Id]) -> bool {
    let mut seen = vec![];
    at.iter().zip(dims).all(|(&id, &dim)| {
        let Node::Index(axis) = s.b.node(id) else { return false };
        let fresh = !seen.contains(&axis);
        seen.push(axis);
        fresh && s.b.extent(axis) == dim
    })
}

fn each_once(s: &mut Simplifier, maps: &[Vec<Affine>]) -> bool {
    maps.iter().all(|map| injective(&s.b, map))
        && (0..maps.len()).all(|x| (0..x).all(|y| disjoint(&mut s.b, &maps[x], &maps[y])))
}

/// Form 2. The stores cover the output exactly if they are as many as its elements.
fn stores(s: &mut Simplifier, name: &str, dims: &[Id], reads: &[&Read]) -> OutDef {
    let (mut stores, mut counts) = (vec![], vec![]);
    for read in reads {
        let over = axes_of(s, &read.at);
        counts.push((1, s.b.count(&over)));
        let node = s.polish(read.cotangent);
        stores.push(Store { over: over.into(), at: read.at.clone().into(), node });
    }
    let written = s.b.affine(0, &counts);
    let all: Vec<(i64, Id)> = dims.iter().map(|&dim| (1, dim)).collect();
    let all = s.b.product(crate::Kind::Int, &all);
    output(name, dims, if written == all { Mode::Set } else { Mode::SetSparse }, stores)
}

/// Form 3. A place outside, which a guarded load allows, becomes a 0 that is added to the first element.
fn scatter(s: &mut Simplifier, name: &str, dims: &[Id], reads: &[&Read]) -> OutDef {
    let mut stores = vec![];
    for read in reads {
        let (mut at, mut node) = (read.at.clone(), s.polish(read.cotangent));
        if read.guard {
            let mut inside = s.b.truth(true);
            for (&id, &dim) in at.iter().zip(dims) {
                inside = within(s, inside, id, dim);
            }
            let (zero, origin) = (s.zero(), s.b.int(0));
            node = s.b.select(inside, node, zero);
            at.iter_mut().for_each(|id| *id = s.b.select(inside, *id, origin));
        }
        let over = axes_of(s, &[&at[..], &[node]].concat());
        stores.push(Store { over: over.into(), at: at.into(), node });
    }
    output(name, dims, Mode::Add, stores)
}

fn axes_of(s: &Simplifier, ids: &[Id]) -> Vec<Axis> {
    let mut axes: Vec<Axis> = ids.iter().flat_map(|&id| s.b.free(id).to_vec()).collect();
    axes.sort_unstable();
    axes.dedup();
    axes
}

/// The axes of the output: those of loads where they cover the dimension, so that what is computed is shared.
fn output_axes(s: &mut Simplifier, reads: &[&Read], dims: &[Id]) -> Vec<Axis> {
    let mut axes: Vec<Axis> = vec![];
    for (q, &dim) in dims.iter().enumerate() {
        let old = reads.iter().find_map(|read| {
            let Node::Index(axis) = s.b.node(read.at[q]) else { return None };
            (s.b.extent(axis) == dim && !axes.contains(&axis)).then_some(axis)
        });
        axes.push(old.unwrap_or_else(|| s.b.axis(&format!("g{q}"), dim)));
    }
    axes
}

/// Form 1.
fn renamed(s: &mut Simplifier, read: &Read, axes: &[Axis]) -> Id {
    let mut map = vec![];
    for (&id, &to) in read.at.iter().zip(axes) {
        if let Node::Index(axis) = s.b.node(id) {
            map.push((axis, s.b.index(to)));
        }
    }
    subst(s, read.cotangent, &map)
}

/// Form 4: the sum over the positions whose index is the output's.
fn guarded(s: &mut Simplifier, read: &Read, axes: &[Axis], dims: &[Id], staged: &mut Staged) -> Id {
    let own = axes_of(s, &read.at);
    // The load's axes get names that are not the output's.
    let mut names: Vec<(Axis, Axis)> = vec![];
    for &axis in &own {
        let taken: Vec<Axis> = axes.iter().chain(&own).copied().chain(names.iter().map(|n| n.1)).collect();
        let name = if axes.contains(&axis) { s.b.sibling(axis, |a| taken.contains(&a)) } else { axis };
        names.push((axis, name));
    }
    let rename: Vec<(Axis, Id)> = names.iter().map(|&(axis, name)| (axis, s.b.index(name))).collect();
    let mut at: Vec<Id> = vec![];
    for &id in &read.at {
        at.push(subst(&mut s.b, id, &rename));
    }
    let names_only: Vec<Axis> = names.iter().map(|n| n.1).collect();
    let Solution { solved, inside } = solve(s, &at, &names_only, axes, dims);

    let mut map: Vec<(Axis, Id)> = vec![];
    for &(axis, name) in &names {
        let to = solved.iter().find(|x| x.0 == name).map_or_else(|| s.b.index(name), |x| x.1);
        map.push((axis, to));
    }
    let moved: Vec<Axis> = map
        .iter()
        .filter(|m| !matches!(s.b.node(m.1), Node::Index(to) if s.b.extent(to) == s.b.extent(m.0)))
        .map(|m| m.0)
        .collect();
    let e = stage(s, read.cotangent, &moved, staged);
    let e = subst(s, e, &map);
    let zero = s.zero();
    let e = s.b.select(inside, e, zero);
    let left: Vec<Axis> = names_only.into_iter().filter(|a| !solved.iter().any(|x| x.0 == *a)).collect();
    s.fold_sum(&left, e)
}

/// Reductions and scans that vary along an axis whose place is solved for are computed before: here each would be
/// computed again for every element that reads it.
fn stage(s: &mut Simplifier, e: Id, moved: &[Axis], staged: &mut Staged) -> Id {
    let varies = |s: &Simplifier, id: Id| moved.iter().any(|a| s.b.free(id).contains(a));
    let reduces = |s: &Simplifier, id: Id| matches!(s.b.node(id), Node::Fold(..) | Node::Scan { .. });
    let nodes = s.b.reach(&[e], &|id| varies(s, id) && !reduces(s, id));
    let nodes: Vec<Id> = nodes.into_iter().filter(|&id| varies(s, id) && reduces(s, id)).collect();
    let mut map = HashMap::new();
    for id in nodes {
        let known = staged.iter().find(|x| x.0 == id).map(|x| x.1);
        let load = known.unwrap_or_else(|| {
            let axes = s.b.free(id).to_vec();
            let dims: Vec<Id> = axes.iter().map(|&a| s.b.extent(a)).collect();
            let arg = s.b.arg(&format!("t{}", staged.len()), s.b.kind(id), &dims);
            let load = s.b.load_over(arg, &axes);
            staged.push((id, load));
            load
        });
        map.insert(id, load);
    }
    s.replace_exactly(e, &map)
}

struct Solution {
    /// Axes of the load and their places, in terms of the output's axes and of axes that are not solved for.
    solved: Vec<(Axis, Id)>,
    /// Whether these places are positions whose index is the output's.
    inside: Id,
}

/// Solves `at[q] == axes[q]`, the dimensions with the fewest axes first, each for the axis with the largest step and
/// among these the longest one, a symbolic extent being long: that leaves the fewest positions to try.
fn solve(s: &mut Simplifier, at: &[Id], own: &[Axis], axes: &[Axis], dims: &[Id]) -> Solution {
    let mut inside = s.b.truth(true);
    let mut solved: Vec<(Axis, Id)> = vec![];
    let mut order: Vec<usize> = (0..at.len()).collect();
    order.sort_by_key(|&q| affine(&mut s.b, at[q]).map_or(usize::MAX, |index| index.terms.len()));
    for q in order {
        let target = s.b.index(axes[q]);
        let index = subst(&mut s.b, at[q], &solved);
        let open = |(axis, _): &(Axis, i64)| own.contains(axis) && !solved.iter().any(|x| x.0 == *axis);
        let terms = affine(&mut s.b, index).map_or(vec![], |index| index.terms);
        let length = |axis: Axis| s.b.as_int(s.b.extent(axis)).unwrap_or(i64::MAX);
        let best = terms.into_iter().filter(open).max_by_key(|&(a, k)| (k.unsigned_abs(), length(a), Reverse(a)));
        let Some((axis, k)) = best.filter(|t| t.1 != i64::MIN) else {
            let meets = s.b.eq(target, index);
            inside = s.b.and(inside, meets);
            continue;
        };
        let here = s.b.index(axis);
        let rest = s.b.affine(0, &[(1, target), (-1, index), (k, here)]);
        let place = if k.abs() == 1 {
            s.b.affine(0, &[(k, rest)])
        } else {
            let (step, zero, sign) = (s.b.int(k.abs()), s.b.int(0), k.signum());
            let remainder = s.b.binary(Binary::Rem, rest, step);
            let divides = s.b.eq(remainder, zero);
            inside = s.b.and(inside, divides);
            let rest = s.b.affine(0, &[(sign, rest)]);
            s.b.binary(Binary::Quot, rest, step)
        };
        let extent = s.b.extent(axis);
        if !(place == target && extent == dims[q]) {
            inside = within(s, inside, place, extent);
        }
        // What was found before may mention the axis.
        for x in &mut solved {
            x.1 = subst(&mut s.b, x.1, &[(axis, place)]);
        }
        inside = subst(&mut s.b, inside, &[(axis, place)]);
        solved.push((axis, place));
    }
    Solution { solved, inside }
}

/// `so_far` and `0 <= place < extent`.
fn within(s: &mut Simplifier, so_far: Id, place: Id, extent: Id) -> Id {
    let zero = s.b.int(0);
    let high = s.b.lt(place, extent);
    if matches!(s.b.node(place), Node::Index(_)) {
        return s.b.and(so_far, high);
    }
    let low = s.b.le(zero, place);
    let inside = s.b.and(low, high);
    s.b.and(so_far, inside)
}
