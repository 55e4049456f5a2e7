//! Replacing nodes and axes inside of expressions.
//!
//! Both walk the nodes in ascending order, so that operands are done before their users and long chains need no stack.

use crate::build::Builder;
use crate::kernel::{Axis, Binary, Fold, Id, Kind, Link, Node, Num};
use std::collections::HashMap;

/// Builds a node again from changed operands. The builder keeps it as it is; the simplifier applies its rules to what is
/// not the primal's.
pub(crate) trait Remake {
    fn builder(&mut self) -> &mut Builder;

    /// `node` is what becomes of the node `old`.
    fn remake(&mut self, old: Id, node: Node) -> Id;
}

impl Remake for Builder {
    fn builder(&mut self) -> &mut Builder {
        self
    }

    /// Float operations give the same bits as before; integers, which are exact, are brought to their normal form.
    fn remake(&mut self, _: Id, node: Node) -> Id {
        match node {
            Node::Sum { kind: Kind::Int, c, terms } => {
                let terms: Vec<(i64, Id)> = self.links(terms).iter().map(|l| (l.k.as_int(), l.id)).collect();
                self.affine(c.as_int(), &terms)
            }
            Node::Prod { kind: Kind::Int, factors } => {
                let factors: Vec<(i64, Id)> = self.links(factors).iter().map(|l| (l.k.as_int(), l.id)).collect();
                self.product(Kind::Int, &factors)
            }
            Node::Sum { kind: Kind::Float, c, terms } => {
                let terms: Vec<(f64, Id)> = self.links(terms).iter().map(|l| (l.k.as_float(), l.id)).collect();
                self.linear(c.as_float(), &terms)
            }
            Node::Prod { kind: Kind::Float, factors } => {
                let factors = self.links(factors).iter().map(|l| (l.k.as_int(), l.id));
                match factors.collect::<Vec<_>>()[..] {
                    [(1, a), (1, b)] => self.mul(a, b),
                    [(1, a), (-1, b)] => self.div(a, b),
                    [..] => self.intern(node),
                }
            }
            Node::Unary(op, a) => self.unary(op, a),
            Node::Binary(op, a, b) => self.binary(op, a, b),
            Node::Select(q, a, b) => self.select(q, a, b),
            Node::Cast(kind, a) => self.cast(kind, a),
            Node::Fold(fold, axes, body) => {
                let axes = self.bound(axes);
                self.fold(fold, &axes, body)
            }
            Node::Const(..)
            | Node::Size(_)
            | Node::Index(_)
            | Node::Load { .. }
            | Node::Sum { .. }
            | Node::Prod { .. }
            | Node::Scan { .. }
            | Node::Random { .. }
            | Node::Call { .. } => self.intern(node),
        }
    }
}

/// `node` with operands looked up in `ids`; those that are not there stay.
fn with_operands(b: &mut Builder, node: Node, ids: &HashMap<Id, Id>) -> Node {
    let new = |id: Id| ids.get(&id).copied().unwrap_or(id);
    // The run of a fold names axes, not operands.
    let run = node.run().filter(|_| !matches!(node, Node::Fold(..))).map(|run| {
        let links: Vec<Link> = b.links(run).iter().map(|l| Link { k: l.k, id: new(l.id) }).collect();
        b.run(&links)
    });
    node.with(new, |old| run.unwrap_or(old))
}

/// `root` with the nodes of `map` replaced, and everything that uses one of them made anew.
///
/// A node and its replacement have the same free axes. Nothing below a node that `keep` accepts is touched.
pub(crate) fn replace(m: &mut dyn Remake, root: Id, map: &HashMap<Id, Id>, keep: &dyn Fn(Id) -> bool) -> Id {
    let mut memo = map.clone();
    for id in m.builder().reach(&[root], &|id| !map.contains_key(&id) && !keep(id)) {
        if memo.contains_key(&id) || keep(id) {
            continue;
        }
        let node = m.builder().node(id);
        let node = with_operands(m.builder(), node, &memo);
        let new = m.remake(id, node);
        memo.insert(id, new);
    }
    memo.get(&root).copied().unwrap_or(root)
}

/// `root` with each axis of `map` replaced by an integer node, all at once.
///
/// A load whose index changes other than by a change of name is guarded: the new index may be outside where the caller
/// does not look.
pub(crate) fn subst(m: &mut dyn Remake, root: Id, map: &[(Axis, Id)]) -> Id {
    let b = m.builder();
    let map: Vec<(Axis, Id)> = map.iter().copied().filter(|&(a, id)| b.node(id) != Node::Index(a)).collect();
    if map.is_empty() {
        return root;
    }
    let touched = |b: &Builder, id: Id| map.iter().any(|(a, _)| b.free(id).contains(a));
    let mut memo = HashMap::new();
    let order = b.reach(&[root], &|id| touched(b, id) && !binds(b.node(id)));
    for id in order {
        if !touched(m.builder(), id) {
            continue;
        }
        let node = m.builder().node(id);
        let new = if let Node::Index(axis) = node {
            map.iter().find(|x| x.0 == axis).map_or(id, |x| x.1)
        } else if let Node::Fold(..) = node {
            under_fold(m, id, &map)
        } else if let Node::Scan { fold, axis, reverse, exclusive, body } = node {
            under_scan(m, id, Scan { fold, axis, reverse, exclusive, body }, &map)
        } else {
            let mut node = with_operands(m.builder(), node, &memo);
            if let Node::Load { guard, .. } = &mut node {
                *guard |= map.iter().any(|&(a, to)| m.builder().free(id).contains(&a) && !same_range(m, a, to));
            }
            m.remake(id, node)
        };
        memo.insert(id, new);
    }
    memo.get(&root).copied().unwrap_or(root)
}

fn binds(node: Node) -> bool {
    matches!(node, Node::Fold(..) | Node::Scan { .. })
}

/// Whether `to` is another axis of the same extent.
fn same_range(m: &mut dyn Remake, axis: Axis, to: Id) -> bool {
    let b = m.builder();
    if let Node::Index(other) = b.node(to) { b.extent(axis) == b.extent(other) } else { false }
}

/// The part of `map` that matters in `body`, whose own axes `bound` hide the outer ones (rule (j)).
fn inner_map(b: &Builder, body: Id, bound: &[Axis], map: &[(Axis, Id)]) -> Vec<(Axis, Id)> {
    map.iter().copied().filter(|(a, _)| !bound.contains(a) && b.free(body).contains(a)).collect()
}

/// Rule (j): with canonical axes a clash between a bound axis and a replacement is the normal case, so bound axes that
/// a replacement mentions get other names.
fn under_fold(m: &mut dyn Remake, id: Id, map: &[(Axis, Id)]) -> Id {
    let b = m.builder();
    let Node::Fold(fold, run, body) = b.node(id) else { return id };
    let bound = b.bound(run);
    let mut inner = inner_map(b, body, &bound, map);
    let mut taken: Vec<Axis> = inner.iter().flat_map(|x| b.free(x.1).to_vec()).collect();
    let clashes: Vec<Axis> = bound.iter().copied().filter(|a| taken.contains(a)).collect();
    taken.extend(b.free(body));
    taken.extend(&bound);
    let mut names = bound.clone();
    for axis in clashes {
        let name = b.sibling(axis, |a| taken.contains(&a));
        taken.push(name);
        inner.push((axis, b.index(name)));
        names.iter_mut().filter(|n| **n == axis).for_each(|n| *n = name);
    }
    let body = subst(m, body, &inner);
    let b = m.builder();
    let names: Vec<Id> = names.into_iter().map(|a| b.index(a)).collect();
    let run = b.run_of(&names);
    m.remake(id, Node::Fold(fold, run, body))
}

struct Scan {
    fold: Fold,
    axis: Axis,
    reverse: bool,
    exclusive: bool,
    body: Id,
}

/// A scan under another name of its axis stays a scan. Read at any other place it is a reduction over the positions
/// that come before: quadratic, so that callers who can store the scan first do.
fn under_scan(m: &mut dyn Remake, id: Id, scan: Scan, map: &[(Axis, Id)]) -> Id {
    let Scan { fold, axis, reverse, exclusive, body } = scan;
    let b = m.builder();
    let at = map.iter().find(|x| x.0 == axis).map_or_else(|| b.index(axis), |x| x.1);
    let mut inner = inner_map(b, body, &[axis], map);
    let mentioned: Vec<Axis> = inner.iter().flat_map(|x| b.free(x.1).to_vec()).collect();
    if let Node::Index(name) = b.node(at)
        && b.extent(name) == b.extent(axis)
        && !mentioned.contains(&name)
        && (name == axis || !b.free(body).contains(&name))
    {
        inner.push((axis, at));
        let body = subst(m, body, &inner);
        return m.remake(id, Node::Scan { fold, axis: name, reverse, exclusive, body });
    }
    let taken: Vec<Axis> = [mentioned, b.free(body).to_vec(), b.free(at).to_vec(), vec![axis]].concat();
    let name = b.sibling(axis, |a| taken.contains(&a));
    let place = b.index(name);
    inner.push((axis, place));
    let body = subst(m, body, &inner);
    let b = m.builder();
    let (first, last) = if reverse { (at, place) } else { (place, at) };
    let before = b.binary(if exclusive { Binary::Lt } else { Binary::Le }, first, last);
    let nothing = identity(fold, b.kind(body));
    let nothing = b.constant(b.kind(body), nothing);
    let body = m.remake(id, Node::Select(before, body, nothing));
    let b = m.builder();
    let run = b.run_of(&[place]);
    m.remake(id, Node::Fold(fold, run, body))
}

/// What a reduction of nothing gives.
pub(crate) fn identity(fold: Fold, kind: Kind) -> Num {
    match (fold, kind) {
        (Fold::Sum | Fold::ArgMax | Fold::ArgMin, _) => Num(0),
        (Fold::Prod, Kind::Float) => Num::float(1.0),
        (Fold::Prod, Kind::Int | Kind::Bool) => Num::int(1),
        (Fold::Max, Kind::Float) => Num::float(f64::NEG_INFINITY),
        (Fold::Max, Kind::Int) => Num::int(i64::MIN),
        (Fold::Max, Kind::Bool) => Num::bool(false),
        (Fold::Min, Kind::Float) => Num::float(f64::INFINITY),
        (Fold::Min, Kind::Int) => Num::int(i64::MAX),
        (Fold::Min, Kind::Bool) => Num::bool(true),
    }
}
