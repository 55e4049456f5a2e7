//! From a kernel to a builder and back.
//!
//! [`Builder::finish`] gives every kernel its one layout: what no output needs is dropped, nodes are numbered in the
//! order of a walk from the extents, the arguments and the outputs, and each node has links of its own. Two builders
//! that hold the same functions finish equal.

use super::Builder;
use crate::kernel::{Arg, ArgDef, Axis, AxisDef, Id, Kernel, Link, List, Node, OutDef, Run, Store};
use crate::rewrite::Remake;
use crate::verify::{Fault, verify};
use std::collections::HashMap;

impl Builder {
    /// A builder that holds a kernel, with its outputs. Integer arithmetic and the axes that reductions bind take their
    /// normal forms.
    ///
    /// # Errors
    /// The faults of the kernel.
    pub fn open(kernel: &Kernel) -> Result<Builder, Vec<Fault>> {
        let faults = verify(kernel);
        if faults.is_empty() { Ok(Builder::open_verified(kernel)) } else { Err(faults) }
    }

    /// As [`Builder::open`], of a kernel without faults.
    pub(crate) fn open_verified(kernel: &Kernel) -> Builder {
        let mut b = Builder::new(&kernel.name);
        b.dims = kernel.dims.to_vec();
        b.axes = kernel.axes.to_vec();
        b.args = kernel.args.to_vec();
        b.callees = kernel.callees.to_vec();
        let mut ids = Vec::with_capacity(kernel.nodes.len());
        for (at, node) in kernel.nodes.iter().enumerate() {
            b.span = kernel.spans.get(at).copied().unwrap_or(0);
            let run = node.run().map(|run| {
                let links = kernel.links(run).iter();
                let links: Vec<Link> = links.map(|l| Link { k: l.k, id: ids[l.id.at()] }).collect();
                b.run(&links)
            });
            let node = node.with(|id| ids[id.at()], |old| run.unwrap_or(old));
            let id = b.remake(Id(at as u32), node);
            ids.push(id);
        }
        b.span = 0;
        let all = |list: &[Id]| -> List<Id> { list.iter().map(|id| ids[id.at()]).collect() };
        for axis in &mut b.axes {
            axis.extent = ids[axis.extent.at()];
        }
        for arg in &mut b.args {
            arg.dims = all(&arg.dims);
        }
        b.outs = kernel.outs.iter().map(|out| map_out(out, &all, &|axis| axis)).collect();
        b
    }

    /// The kernel: that of the outputs made so far.
    pub fn finish(&self) -> Kernel {
        let args: Vec<Arg> = (0..self.args.len() as u32).map(Arg).collect();
        self.finish_with(self.name.clone(), &args)
    }

    /// The kernel in that role, with all of its arguments.
    pub(crate) fn finish_as(&self, role: &str) -> Kernel {
        Kernel { name: format!("{}_{role}", self.name).into(), ..self.finish() }
    }

    /// The kernel in that role with those arguments alone that it loads, and these.
    pub(crate) fn finish_needed(&self, role: &str) -> (Kernel, Vec<Arg>) {
        let roots: Vec<Id> = self.outs.iter().flat_map(out_ids).copied().collect();
        let mut args: Vec<Arg> = vec![];
        for id in self.reachable(&roots) {
            if let Node::Load { arg, .. } = self.node(id) {
                args.push(arg);
            }
        }
        args.sort_unstable();
        args.dedup();
        (self.finish_with(format!("{}_{role}", self.name), &args), args)
    }

    fn finish_with(&self, name: String, args: &[Arg]) -> Kernel {
        let used = self.used_axes();
        let (ids, to, callees) = (HashMap::new(), Builder::default(), vec![]);
        let mut renumber = Renumber { from: self, ids, to, callees, args };
        let mut axes = HashMap::new();
        for (new, &axis) in used.iter().enumerate() {
            axes.insert(axis, Axis(new as u32));
        }
        for &axis in &used {
            renumber.visit(self.extent(axis), &axes);
        }
        let defs: Vec<&ArgDef> = args.iter().map(|a| &self.args[a.at()]).collect();
        let roots = defs.iter().flat_map(|a| a.dims.iter()).chain(self.outs.iter().flat_map(out_ids));
        for &root in roots {
            renumber.visit(root, &axes);
        }
        let Renumber { ids, to, callees, .. } = renumber;
        let all = |list: &[Id]| -> List<Id> { list.iter().map(|id| ids[id]).collect() };
        let axis = |axis: Axis| axes[&axis];
        let args = defs.iter().map(|a| ArgDef { name: a.name.clone(), kind: a.kind, dims: all(&a.dims) });
        let spans = if to.spans.iter().all(|&s| s == 0) { vec![] } else { to.spans };
        Kernel {
            name: name.into(),
            dims: self.dims.clone().into(),
            axes: used.iter().map(|&a| self.axis_def(a, &ids)).collect(),
            args: args.collect(),
            outs: self.outs.iter().map(|out| map_out(out, &all, &axis)).collect(),
            nodes: to.nodes.into(),
            links: to.links.into(),
            spans: spans.into(),
            callees: callees.iter().map(|&c| self.callees[c as usize]).collect(),
        }
    }

    fn axis_def(&self, axis: Axis, ids: &HashMap<Id, Id>) -> AxisDef {
        let def = &self.axes[axis.at()];
        AxisDef { name: def.name.clone(), extent: ids[&def.extent] }
    }

    /// The axes that the arguments and outputs need, in order.
    fn used_axes(&self) -> Vec<Axis> {
        let mut used = vec![false; self.axes.len()];
        let roots: Vec<Id> = self.outs.iter().flat_map(out_ids).copied().collect();
        for out in &self.outs {
            out.stores.iter().flat_map(|s| s.over.iter()).for_each(|a| used[a.at()] = true);
        }
        for id in self.reachable(&roots) {
            let node = self.node(id);
            if let Node::Index(axis) | Node::Scan { axis, .. } = node {
                used[axis.at()] = true;
            } else if let Node::Fold(_, run, _) = node {
                self.bound(run).iter().for_each(|a| used[a.at()] = true);
            }
        }
        (0..self.axes.len() as u32).map(Axis).filter(|a| used[a.at()]).collect()
    }

    /// The nodes that `roots` need, ascending.
    pub(crate) fn reachable(&self, roots: &[Id]) -> Vec<Id> {
        self.reach(roots, &|_| true)
    }

    /// The nodes that `roots` need, ascending, without the operands of those that `descend` refuses.
    pub(crate) fn reach(&self, roots: &[Id], descend: &dyn Fn(Id) -> bool) -> Vec<Id> {
        let (mut seen, mut todo, mut found) = (vec![false; self.nodes.len()], roots.to_vec(), vec![]);
        while let Some(id) = todo.pop() {
            if std::mem::replace(&mut seen[id.at()], true) {
                continue;
            }
            found.push(id);
            if descend(id) {
                todo.extend(self.operands(id));
            }
        }
        found.sort_unstable();
        found
    }
}

/// Numbers nodes anew, in the order in which they are first needed.
struct Renumber<'a> {
    from: &'a Builder,
    ids: HashMap<Id, Id>,
    to: Builder,
    callees: Vec<u32>,
    /// The arguments that are kept.
    args: &'a [Arg],
}

impl Renumber<'_> {
    fn visit(&mut self, root: Id, axes: &HashMap<Axis, Axis>) {
        let mut todo = vec![(root, false)];
        while let Some((id, ready)) = todo.pop() {
            if self.ids.contains_key(&id) {
                continue;
            }
            if ready {
                self.emit(id, axes);
                continue;
            }
            todo.push((id, true));
            let mut operands = self.from.operands(id);
            if let Node::Fold(_, run, _) = self.from.node(id) {
                operands.splice(0..0, self.from.links(run).iter().map(|l| l.id));
            }
            todo.extend(operands.into_iter().rev().map(|id| (id, false)));
        }
    }

    fn emit(&mut self, id: Id, axes: &HashMap<Axis, Axis>) {
        let node = self.from.node(id);
        let run = node.run().map(|run| {
            let at = self.to.links.len() as u32;
            let links = self.from.links(run).iter().map(|l| Link { k: l.k, id: self.ids[&l.id] });
            self.to.links.extend(links);
            if run.len == 0 { Run { at: 0, len: 0 } } else { Run { at, len: run.len } }
        });
        let mut node = node.with(|id| self.ids[&id], |old| run.unwrap_or(old));
        if let Node::Index(axis) | Node::Scan { axis, .. } = &mut node {
            *axis = axes[axis];
        } else if let Node::Load { arg, .. } = &mut node {
            // All that are loaded are kept.
            *arg = Arg(self.args.binary_search(arg).unwrap_or(0) as u32);
        } else if let Node::Call { callee, .. } = &mut node {
            let known = self.callees.iter().position(|c| c == callee);
            *callee = known.unwrap_or_else(|| {
                self.callees.push(*callee);
                self.callees.len() - 1
            }) as u32;
        }
        self.ids.insert(id, Id(self.to.nodes.len() as u32));
        self.to.nodes.push(node);
        self.to.spans.push(self.from.span(id));
    }
}

/// The nodes that an output names, in order.
pub(crate) fn out_ids(out: &OutDef) -> impl Iterator<Item = &Id> {
    out.dims.iter().chain(out.stores.iter().flat_map(|s| s.at.iter().chain([&s.node])))
}

fn map_out(out: &OutDef, ids: &dyn Fn(&[Id]) -> List<Id>, axis: &dyn Fn(Axis) -> Axis) -> OutDef {
    let stores = out.stores.iter().map(|s| Store {
        over: s.over.iter().map(|&a| axis(a)).collect(),
        at: ids(&s.at),
        node: ids(&[s.node])[0],
    });
    OutDef { name: out.name.clone(), kind: out.kind, dims: ids(&out.dims), mode: out.mode, stores: stores.collect() }
}
