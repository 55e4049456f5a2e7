//! The verifier: every fault of a kernel at once.
//!
//! A kernel without faults can be evaluated, printed, differentiated and lowered without further checks of its form.

mod fault;
mod nodes;

pub use fault::{Fault, Part, What};

use crate::facts::Known;
use crate::kernel::{Axis, Id, Kernel, Kind, Mode, Node, OutDef, Store};
use crate::names::RESERVED;
use std::collections::{HashMap, HashSet};

/// How deep reductions, scans and callees may be nested: what walks them recurses.
pub const DEPTH: u32 = 64;

/// The largest power of a factor.
pub const POWER: u64 = 1 << 15;

/// The faults of a kernel; none if it is well formed.
pub fn verify(kernel: &Kernel) -> Vec<Fault> {
    let mut v = Verifier::new(kernel);
    v.callees(DEPTH, &mut HashMap::new());
    v.run()
}

struct Verifier<'a> {
    kernel: &'a Kernel,
    faults: Vec<Fault>,
    kinds: Vec<Kind>,
    free: Vec<Vec<Axis>>,
    depth: Vec<u32>,
    /// Whether each callee can be called.
    callees: Vec<bool>,
}

impl Verifier<'_> {
    fn new(kernel: &Kernel) -> Verifier<'_> {
        Verifier { kernel, faults: vec![], kinds: vec![], free: vec![], depth: vec![], callees: vec![] }
    }

    fn run(mut self) -> Vec<Fault> {
        self.names();
        for (at, node) in self.kernel.nodes.iter().enumerate() {
            self.node(Id(at as u32), node);
        }
        for axis in self.kernel.axes.iter() {
            self.extent(axis.extent);
        }
        for arg in self.kernel.args.iter() {
            arg.dims.iter().for_each(|&dim| self.extent(dim));
        }
        for out in self.kernel.outs.iter() {
            self.output(out);
        }
        if !self.kernel.spans.is_empty() && self.kernel.spans.len() != self.kernel.nodes.len() {
            let (spans, nodes) = (self.kernel.spans.len(), self.kernel.nodes.len());
            self.report(None, What::Spans { spans, nodes });
        }
        self.faults
    }

    fn report(&mut self, node: Option<Id>, what: What) {
        self.faults.push(Fault { node, what });
    }

    fn known(&self) -> Known<'_> {
        Known {
            nodes: &self.kernel.nodes,
            args: &self.kernel.args,
            callees: &self.kernel.callees,
            kinds: &self.kinds,
            free: &self.free,
        }
    }

    /// Dims, axes and arguments share one space of names; outputs have one of their own. Callees are what they are by
    /// identity: kernels of two modules may bear one name, which only the text form cannot tell apart.
    fn names(&mut self) {
        let k = self.kernel;
        let inner = k.dims.iter().chain(k.axes.iter().map(|a| &a.name)).chain(k.args.iter().map(|a| &a.name));
        let outs = k.outs.iter().map(|o| &o.name);
        for callee in k.callees.iter().filter(|c| !is_identifier(&c.name)) {
            self.report(None, What::NotAName(callee.name.to_string()));
        }
        for names in [inner.collect::<Vec<_>>(), outs.collect(), vec![&k.name]] {
            let mut seen = HashSet::new();
            for name in names {
                if !is_identifier(name) {
                    self.report(None, What::NotAName(name.to_string()));
                } else if !seen.insert(name) {
                    self.report(None, What::Twice(name.to_string()));
                }
            }
        }
    }

    /// A callee has no axes and no dims, and is itself well formed. `seen` holds what was found of callees so far.
    fn callees(&mut self, depth: u32, seen: &mut HashMap<*const Kernel, Option<What>>) {
        for &callee in self.kernel.callees.iter() {
            let name = || callee.name.to_string();
            let known = seen.get(&std::ptr::from_ref(callee)).cloned();
            let what = known.unwrap_or_else(|| {
                let what = if depth == 0 {
                    Some(What::CallDepth(name()))
                } else if !callee.axes.is_empty() || !callee.dims.is_empty() || !callee.outs.iter().all(is_pointwise) {
                    Some(What::CalleeLoops(name()))
                } else {
                    let mut inner = Verifier::new(callee);
                    inner.callees(depth - 1, seen);
                    let fault = inner.run().into_iter().next();
                    fault.map(|fault| What::Callee { name: name(), fault: Box::new(fault.what) })
                };
                seen.insert(std::ptr::from_ref(callee), what.clone());
                what
            });
            self.callees.push(what.is_none());
            what.into_iter().for_each(|what| self.report(None, what));
        }
    }

    /// An extent is an integer node of constants, sizes and arithmetic.
    fn extent(&mut self, id: Id) {
        if id.at() >= self.kernel.nodes.len() {
            return self.report(None, What::NoNode(id));
        }
        let (mut todo, mut seen) = (vec![id], HashSet::new());
        while let Some(id) = todo.pop() {
            if !seen.insert(id) {
                continue;
            }
            let Some(node) = self.kernel.nodes.get(id.at()) else { return };
            let plain = match node {
                Node::Const(..) | Node::Size(_) | Node::Sum { .. } | Node::Prod { .. } | Node::Binary(..) => true,
                Node::Index(_)
                | Node::Load { .. }
                | Node::Unary(..)
                | Node::Select(..)
                | Node::Cast(..)
                | Node::Fold(..)
                | Node::Scan { .. }
                | Node::Random { .. }
                | Node::Call { .. } => false,
            };
            if !plain || self.kinds[id.at()] != Kind::Int {
                return self.report(Some(id), What::Extent);
            }
            node.operands(self.kernel.links_of(node), &mut |id| todo.push(id));
        }
    }

    fn output(&mut self, out: &OutDef) {
        out.dims.iter().for_each(|&dim| self.extent(dim));
        let name = || out.name.to_string();
        if out.stores.is_empty() {
            self.report(None, What::NoStore(name()));
        }
        if out.mode == Mode::Add && out.kind == Kind::Bool {
            self.report(None, What::AddsTruth(name()));
        }
        for store in out.stores.iter() {
            if let Some(&id) = store.at.iter().chain([&store.node]).find(|id| id.at() >= self.kernel.nodes.len()) {
                self.report(None, What::NoNode(id));
                continue;
            }
            self.store(out, store);
        }
    }

    fn store(&mut self, out: &OutDef, store: &Store) {
        let (at, name) = (Some(store.node), || out.name.to_string());
        if store.at.len() != out.dims.len() {
            self.report(at, What::Rank { name: name(), rank: out.dims.len(), places: store.at.len() });
        }
        let kind = self.kinds[store.node.at()];
        if kind != out.kind {
            self.report(at, What::Stores { name: name(), found: kind, needs: out.kind });
        }
        for &place in store.at.iter() {
            if self.kinds[place.at()] != Kind::Int {
                self.report(Some(place), What::Place { name: name(), found: self.kinds[place.at()] });
            }
        }
        let mut over = HashSet::new();
        for &axis in store.over.iter() {
            match self.kernel.axes.get(axis.at()) {
                None => self.report(at, What::No { part: Part::Axis, index: axis.0 }),
                Some(def) if !over.insert(axis) => self.report(at, What::OverTwice(def.name.to_string())),
                Some(_) => {}
            }
        }
        let mut missing: Vec<Axis> =
            store.at.iter().chain([&store.node]).flat_map(|id| self.free[id.at()].clone()).collect();
        missing.sort_unstable();
        missing.dedup();
        for axis in missing.into_iter().filter(|a| !over.contains(a)) {
            let axis = self.kernel.axes.get(axis.at()).map_or_else(String::new, |a| a.name.to_string());
            self.report(at, What::NotLooped { name: name(), axis });
        }
    }
}

fn is_pointwise(out: &OutDef) -> bool {
    out.dims.is_empty() && out.stores.len() == 1 && out.stores[0].over.is_empty() && out.stores[0].at.is_empty()
}

fn is_identifier(name: &str) -> bool {
    !RESERVED.contains(&name)
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
