//! What the forward kernel keeps for the backward one.
//!
//! Always: values of reductions that are smaller than the data, such as a row's maximum or inverse deviation, and the
//! places of maxima, after which the data themselves may not be needed. An output is read instead of computed again if
//! that saves reductions, full-size reads or transcendental calls, compared in that order, and makes nothing worse.

use crate::build::Builder;
use crate::invert::Read;
use crate::kernel::{Axis, Id, Kind, Mode, Node, OutDef};
use crate::rules::Simplifier;
use crate::vjp::Source;
use std::collections::HashMap;

/// What is saved, in ascending order of ids.
pub(crate) struct Chosen {
    /// Outputs of the primal: the node and the output.
    outputs: Vec<(Id, u32)>,
    /// Nodes that become outputs.
    values: Vec<Id>,
}

struct Choice<'a> {
    b: &'a Builder,
    /// The rank of full-size data.
    full: usize,
    /// Which nodes depend on the primal's arguments alone.
    pure: Vec<bool>,
    /// Which nodes contain a reduction or a scan.
    reduces: Vec<bool>,
    roots: Vec<Id>,
}

/// Chooses among the nodes that the cotangents need; `args` is the number of the primal's arguments.
pub(crate) fn choose(s: &Simplifier, outs: &[OutDef], args: usize, reads: &[Read]) -> Chosen {
    let b = &s.b;
    let (mut pure, mut reduces) = (vec![], vec![]);
    for id in (0..b.len()).map(Id) {
        let (node, operands) = (b.node(id), b.operands(id));
        let own = if let Node::Load { arg, .. } = node { arg.at() < args } else { true };
        let folds = matches!(node, Node::Fold(..) | Node::Scan { .. });
        pure.push(own && operands.iter().all(|o| pure[o.at()]));
        reduces.push(folds || operands.iter().any(|o| reduces[o.at()]));
    }
    let ranks = b.args().iter().map(|a| a.dims.len());
    let loops = outs.iter().flat_map(|o| o.stores.iter()).map(|s| s.over.len());
    let full = ranks.chain(loops).max().unwrap_or(0);
    let roots = reads.iter().flat_map(|r| r.at.iter().copied().chain([r.cotangent])).collect();
    let choice = Choice { b, full, pure, reduces, roots };

    let mut outputs = vec![];
    for (at, out) in outs.iter().enumerate() {
        if let Some(id) = choice.readable(out) {
            let without = choice.cost(&outputs);
            outputs.push((id, at as u32));
            if choice.cost(&outputs) > without || !choice.frontier(&outputs).contains(&id) {
                outputs.pop();
            }
        }
    }
    let frontier = choice.frontier(&outputs);
    let values = frontier.into_iter().filter(|id| !outputs.iter().any(|o| o.0 == *id)).collect();
    Chosen { outputs, values }
}

impl Choice<'_> {
    /// The node that an output holds, if it can be read back: written once, over just the axes of the node.
    fn readable(&self, out: &OutDef) -> Option<Id> {
        let [store] = &out.stores[..] else { return None };
        let mut over: Vec<Axis> = store.over.to_vec();
        over.sort_unstable();
        let leaf = matches!(self.b.node(store.node), Node::Load { .. } | Node::Const(..));
        (out.mode != Mode::Add && !leaf && over == self.b.free(store.node)).then_some(store.node)
    }

    /// Whether a node is a value to keep wherever the backward kernel needs it.
    fn keeps(&self, id: Id) -> bool {
        let node = self.b.node(id);
        if !self.pure[id.at()] || self.b.kind(id) == Kind::Bool {
            return false;
        }
        let folds = matches!(node, Node::Fold(..) | Node::Scan { .. });
        folds || (self.reduces[id.at()] && self.b.free(id).len() < self.full)
    }

    /// The nodes at which the walk from the cotangents stops, ascending.
    fn frontier(&self, outputs: &[(Id, u32)]) -> Vec<Id> {
        let stops = |id: Id| outputs.iter().any(|o| o.0 == id) || self.keeps(id);
        self.b.reach(&self.roots, &|id| !stops(id)).into_iter().filter(|&id| stops(id)).collect()
    }

    /// Reductions computed again, full-size arrays read, and transcendental calls, if `outputs` are read.
    fn cost(&self, outputs: &[(Id, u32)]) -> (usize, usize, usize) {
        let (mut folds, mut arrays, mut calls) = (0, vec![], 0);
        let is_output = |id: Id| outputs.iter().any(|o| o.0 == id);
        // Row values are kept in any case.
        let row_value = |id: Id| self.keeps(id) && self.b.free(id).len() < self.full;
        for id in self.b.reach(&self.roots, &|id| !is_output(id) && !row_value(id)) {
            if is_output(id) {
                if self.b.free(id).len() == self.full {
                    arrays.push((true, id.0));
                }
                continue;
            }
            let node = self.b.node(id);
            if let Node::Load { arg, .. } = node {
                if self.b.args()[arg.at()].dims.len() == self.full {
                    arrays.push((false, arg.0));
                }
            } else if let Node::Unary(op, _) = node {
                calls += usize::from(op.is_transcendental());
            } else if let Node::Call { .. } = node {
                calls += 1;
            } else if matches!(node, Node::Fold(..) | Node::Scan { .. }) && self.pure[id.at()] && !row_value(id) {
                folds += 1;
            }
        }
        arrays.sort_unstable();
        arrays.dedup();
        (folds, arrays.len(), calls)
    }
}

/// Declares what is saved as outputs of `forward` and as arguments of the derivative, and reads it there.
pub(crate) fn replace_saved(
    s: &mut Simplifier,
    forward: &mut Builder,
    outs: &[OutDef],
    chosen: &Chosen,
    reads: &mut [Read],
    sources: &mut Vec<Source>,
) {
    let mut map = HashMap::new();
    for &(id, at) in &chosen.outputs {
        let out = &outs[at as usize];
        let arg = s.b.arg(&out.name, out.kind, &out.dims);
        sources.push(Source::Out(at));
        map.insert(id, s.b.load(arg, &out.stores[0].at));
    }
    // Values that came up in the derivative, such as places of maxima, are unknown to the primal.
    let ids = copy(&s.b, forward, &chosen.values);
    for (at, (&id, new)) in chosen.values.iter().zip(ids).enumerate() {
        let axes = s.b.free(id).to_vec();
        let dims: Vec<Id> = axes.iter().map(|&a| s.b.extent(a)).collect();
        let name = format!("s{at}");
        let arg = s.b.arg(&name, s.b.kind(id), &dims);
        sources.push(Source::Out(forward.output_over(&name, &axes, new)));
        map.insert(id, s.b.load_over(arg, &axes));
    }
    // The expressions are in their final form: they are not simplified again.
    for read in reads {
        read.cotangent = s.replace_exactly(read.cotangent, &map);
        read.at.iter_mut().for_each(|at| *at = s.replace_exactly(*at, &map));
    }
}

/// Makes nodes of one builder in another that has the same axes, dims and arguments, as far as they are used.
fn copy(from: &Builder, to: &mut Builder, roots: &[Id]) -> Vec<Id> {
    let mut ids = HashMap::new();
    let mut order = from.reachable(roots);
    for id in order.clone() {
        if let Node::Fold(_, run, _) = from.node(id) {
            order.extend(from.links(run).iter().map(|l| l.id));
        }
    }
    order.sort_unstable();
    order.dedup();
    to.copy_axes(from);
    for id in order {
        let node = from.node(id);
        let run = node.run().map(|run| {
            let links: Vec<_> = from.links(run).iter().map(|l| crate::Link { k: l.k, id: ids[&l.id] }).collect();
            to.run(&links)
        });
        let node = node.with(|id| ids[&id], |old| run.unwrap_or(old));
        ids.insert(id, to.intern(node));
    }
    roots.iter().map(|id| ids[id]).collect()
}
