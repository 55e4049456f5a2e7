//! What a kernel costs, counted on its nodes.

use crate::facts::Known;
use crate::kernel::{Id, Kernel, Kind, Node, Num};

/// Counts of distinct nodes. A node counts once however often it is used, and once for all its positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Additions, multiplications, divisions, comparisons, selections and other cheap float or truth-value operations.
    pub operations: usize,
    /// Loads.
    pub loads: usize,
    /// Reductions and scans.
    pub reductions: usize,
    /// Transcendental functions.
    pub calls: usize,
}

/// The cost of all outputs together. Index arithmetic, which a loop nest carries along, is not counted, nor are calls of
/// other kernels: link first.
pub fn cost(kernel: &Kernel) -> Cost {
    let mut kinds = vec![];
    for node in kernel.nodes.iter() {
        let (nodes, args, callees) = (&kernel.nodes[..], &kernel.args[..], &kernel.callees[..]);
        kinds.push(Known { nodes, args, callees, kinds: &kinds, free: &[] }.kind(node));
    }
    let mut cost = Cost::default();
    let mut seen = vec![false; kernel.nodes.len()];
    let mut todo: Vec<Id> = kernel.outs.iter().flat_map(|o| o.stores.iter().map(|s| s.node)).collect();
    while let Some(id) = todo.pop() {
        let Some(node) = kernel.nodes.get(id.at()) else { continue };
        if !std::mem::replace(&mut seen[id.at()], true) {
            count(kernel, node, kinds[id.at()], &mut cost);
            node.operands(kernel.links_of(node), &mut |id| todo.push(id));
        }
    }
    cost
}

fn count(kernel: &Kernel, node: &Node, kind: Kind, cost: &mut Cost) {
    match *node {
        Node::Load { .. } => cost.loads += 1,
        Node::Fold(..) | Node::Scan { .. } => cost.reductions += 1,
        Node::Unary(op, _) if op.is_transcendental() => cost.calls += 1,
        Node::Sum { kind: Kind::Float, c, terms } => {
            let terms = kernel.links(terms);
            let scaled = terms.iter().filter(|l| l.k.as_float().abs() != 1.0).count();
            let added = terms.len() + usize::from(c != Num::NO_FLOAT);
            cost.operations = cost.operations.saturating_add(scaled + added.saturating_sub(1));
        }
        Node::Prod { kind: Kind::Float, factors } => {
            let powers = kernel.links(factors).iter().map(|l| l.k.as_int());
            let inverse = powers.clone().all(|k| k < 0);
            let factors: usize = powers.map(|k| k.unsigned_abs() as usize).fold(0, usize::saturating_add);
            cost.operations = cost.operations.saturating_add(factors.saturating_sub(usize::from(!inverse)));
        }
        Node::Unary(..) | Node::Binary(..) | Node::Select(..) | Node::Cast(..) if kind != Kind::Int => {
            cost.operations = cost.operations.saturating_add(1);
        }
        Node::Random { .. } => cost.operations = cost.operations.saturating_add(1),
        Node::Sum { .. }
        | Node::Prod { .. }
        | Node::Unary(..)
        | Node::Binary(..)
        | Node::Select(..)
        | Node::Cast(..)
        | Node::Const(..)
        | Node::Size(_)
        | Node::Index(_)
        | Node::Call { .. } => {}
    }
}
