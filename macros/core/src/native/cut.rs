//! What is computed before the rest of a kernel, in memory of its own.
//!
//! An output that maps onto rows is one launch. Of any other, parts are computed first: matrix products, by the library;
//! scans, which a row computes in one pass; and reductions that vary along fewer axes than the elements that use them.
//! What is left reads these as it reads arguments.

use super::arena;
use super::code::{Kernels, Slots};
use super::contract::{Contraction, contraction, whole_load};
use super::emit::Parts;
use super::plan::{Group, groups, plain_store, tiles};
use super::{Factor, Product, Slot, Step, Temp, Unsupported, nest, rows};
use cotangent_ir::{Axis, Id, Kernel, Kind, Node, Num, OutDef, Run};
use std::collections::{BTreeMap, BTreeSet};

/// The steps of a program, in order, and what they hand on.
pub(super) struct Schedule {
    pub(super) temps: Vec<Temp>,
    pub(super) steps: Vec<Step>,
}

/// The schedule of a kernel.
///
/// # Errors
/// The first construct that has no native form.
pub(super) fn schedule(k: &Kernel, parts: &Parts<'_>) -> Result<Schedule, Unsupported> {
    let kernels = Kernels::within(k, parts.callees, Slots::of(k), parts.groups);
    let unbounded = |node: &Node| matches!(node, Node::Scan { axis, .. } if kernels.is_group(kernels.extent(*axis)));
    if let Some(node) = k.nodes.iter().position(unbounded) {
        return Err(Unsupported { node: Id(node as u32), what: "a scan along any number of axes" });
    }
    let mut cut = Cut {
        kernel: k.clone(),
        slots: Slots::of(k),
        parts,
        done: BTreeSet::new(),
        made: arena::Made::default(),
        temps: vec![],
        steps: vec![],
    };
    for out in 0..k.outs.len() {
        cut.settle(out);
    }
    cut.launch(0);
    Ok(Schedule { temps: cut.temps, steps: cut.steps })
}

struct Cut<'a> {
    /// The kernel, in which what is computed already is an argument. Behind its outputs stand the values that are being
    /// computed: they follow their nodes, whose numbers change.
    kernel: Kernel,
    slots: Slots,
    parts: &'a Parts<'a>,
    /// Outputs that are products: no launch computes them.
    done: BTreeSet<usize>,
    made: arena::Made,
    temps: Vec<Temp>,
    steps: Vec<Step>,
}

/// What is to be done for an output.
enum Task {
    /// All of it is a matrix product.
    Product(Contraction),
    /// A matrix product gets a node of its own, apart from what it is multiplied by.
    Split(Id, Contraction),
    /// A node is computed beforehand, its axes in this order.
    Cut(Id, Vec<Axis>),
}

impl<'a> Cut<'a> {
    fn kernels(&self) -> Kernels<'_> {
        Kernels::within(&self.kernel, self.parts.callees, self.slots.clone(), self.parts.groups)
    }

    /// Computes what an output needs beforehand, or all of it, if it is a matrix product.
    fn settle(&mut self, out: usize) {
        while let Some(task) = self.task(out) {
            match task {
                Task::Product(product) => return self.product(out, &product),
                Task::Split(id, product) => self.split(id, &product),
                Task::Cut(id, axes) => {
                    let at = self.value(id, axes);
                    self.compute(at);
                }
            }
        }
    }

    fn task(&self, out: usize) -> Option<Task> {
        let k = self.kernels();
        let def = &k.k.outs[out];
        if tiles(&k, out, def).is_some() {
            return None;
        }
        if let Some(store) = plain_store(&k, def)
            && k.free(store.node).len() == store.over.len()
            && !self.is_shared(&k, out)
            && let Some(product) = contraction(&k, store.node).filter(Contraction::is_whole)
        {
            return Some(Task::Product(product));
        }
        let found = next(&k, def)?;
        match contraction(&k, found).filter(|product| !product.is_whole()) {
            Some(product) => Some(Task::Split(found, product)),
            None => {
                let over: Vec<Axis> = def.stores.iter().flat_map(|store| store.over.iter().copied()).collect();
                Some(Task::Cut(found, order(&k, found, &over)))
            }
        }
    }

    /// Whether another output of the program needs the node of this one.
    fn is_shared(&self, k: &Kernels<'_>, out: usize) -> bool {
        let node = k.k.outs[out].stores[0].node;
        let others = k.k.outs.iter().zip(&self.slots.outs).enumerate();
        let others = others.filter(|(at, (_, slot))| *at != out && matches!(slot, Slot::Out(_)));
        matches!(self.slots.outs[out], Slot::Out(_))
            && others
                .flat_map(|(_, (def, _))| &*def.stores)
                .any(|store| k.reach(&[store.node], |_| false).contains(&node))
    }

    /// Appends a value to the outputs, to be computed over these axes.
    fn value(&mut self, node: Id, axes: Vec<Axis>) -> usize {
        let k = self.kernels();
        let (kind, name) = (k.kind(node), format!("#{}", self.temps.len()).into());
        let dims: Vec<Id> = axes.iter().map(|axis| k.extent(*axis)).collect();
        let store = arena::plain_store(&self.kernel, &axes, node);
        let def = OutDef { name, kind, dims: dims.into(), mode: cotangent_ir::Mode::Set, stores: vec![store].into() };
        self.kernel.outs.to_mut().push(def);
        self.slots.outs.push(Slot::Temp(self.temps.len() as u32));
        self.temps.push(Temp { kind, axes });
        self.kernel.outs.len() - 1
    }

    /// Computes the last value and makes its node a load of it.
    fn compute(&mut self, at: usize) {
        self.settle(at);
        self.launch(at);
        self.done.remove(&at);
        if let (Some(def), Some(slot)) = (self.kernel.outs.to_mut().pop(), self.slots.outs.pop()) {
            arena::replace_by_load(&mut self.kernel, def);
            self.slots.args.push(slot);
        }
    }

    /// The launches of the outputs from `first` on, apart from products.
    fn launch(&mut self, first: usize) {
        let k = self.kernels();
        let outs: Vec<usize> = (first..k.k.outs.len()).filter(|out| !self.done.contains(out)).collect();
        let mut steps = vec![];
        for group in groups(&k, &outs) {
            steps.push(Step::Launch(match group {
                Group::Tiles(group) => rows::launch(&k, &group, self.parts.numbers),
                Group::Nest { out } => nest::launch(&k, out, self.parts.numbers),
            }));
        }
        self.steps.extend(steps);
    }

    /// A matrix product apart from what it is multiplied by, so that it can be computed by itself.
    fn split(&mut self, id: Id, product: &Contraction) {
        let (_, body, id) = self.body(id, product);
        let Node::Fold(fold, run, _) = self.kernel.nodes[id.at()] else { return };
        let (sum, id) = self.made.insert(&mut self.kernel, id, &[], |_| Node::Fold(fold, run, body));
        let scale = Num::float(product.scale);
        let scaled = |terms| Node::Sum { kind: Kind::Float, c: Num::NO_FLOAT, terms };
        if product.outer.is_empty() {
            arena::replace(&mut self.kernel, id, &[(scale, sum)], scaled);
            return;
        }
        let (sum, id) = match product.scale {
            1.0 => (sum, id),
            _ => self.made.insert(&mut self.kernel, id, &[(scale, sum)], scaled),
        };
        let all = [(sum, 1)].into_iter().chain(product.outer.iter().copied());
        let factors: Vec<(Num, Id)> = all.map(|(id, power)| (Num::int(power), id)).collect();
        arena::replace(&mut self.kernel, id, &factors, |factors| Node::Prod { kind: Kind::Float, factors });
    }

    /// The product of two single nodes, one a factor, put before the sum `id`: the factors, the product, and the sum's
    /// number from then on.
    fn body(&mut self, id: Id, product: &Contraction) -> ([Id; 2], Id, Id) {
        let mut id = id;
        let product_of = |factors| Node::Prod { kind: Kind::Float, factors };
        let sides = product.factors.each_ref().map(|factor| {
            let mut insert = |links: &[(Num, Id)], node: &dyn Fn(Run) -> Node| {
                let (value, next) = self.made.insert(&mut self.kernel, id, links, node);
                id = next;
                value
            };
            let mut value = match factor.powers[..] {
                [(only, 1)] => only,
                ref several => {
                    let links: Vec<(Num, Id)> = several.iter().map(|(id, power)| (Num::int(*power), *id)).collect();
                    insert(&links, &product_of)
                }
            };
            for &(mask, counts) in &factor.masks {
                let zero = insert(&[], &|_| Node::Const(Kind::Float, Num::float(0.0)));
                let (a, b) = if counts { (value, zero) } else { (zero, value) };
                value = insert(&[], &|_| Node::Select(mask, a, b));
            }
            value
        });
        let links = sides.map(|side| (Num::int(1), side));
        let (body, id) = self.made.insert(&mut self.kernel, id, &links, product_of);
        (sides, body, id)
    }

    /// An output that is a matrix product: what its factors are, where they are not all of an argument, and the call.
    fn product(&mut self, out: usize, product: &Contraction) {
        let node = self.kernel.outs[out].stores[0].node;
        let (sides, body, node) = self.body(node, product);
        if let Node::Fold(fold, run, _) = self.kernel.nodes[node.at()] {
            arena::replace(&mut self.kernel, node, &[], |_| Node::Fold(fold, run, body));
        }
        let mut values = vec![];
        let factors = sides.map(|side| {
            let k = self.kernels();
            if let Some((arg, axes)) = whole_load(&k, side) {
                return Factor { slot: k.slots.args[arg as usize], axes };
            }
            let axes = order(&k, side, &[]);
            let at = self.value(side, axes.clone());
            values.push(at);
            Factor { slot: self.slots.outs[at], axes }
        });
        for at in values.into_iter().rev() {
            self.compute(at);
        }
        let own = Factor { slot: self.slots.outs[out], axes: self.kernel.outs[out].stores[0].over.to_vec() };
        self.steps.push(Step::Product(Product { factors, out: own }));
        self.done.insert(out);
    }
}

/// The next node that is computed before an output: a matrix product, a scan, or a reduction that varies along fewer
/// axes than all that uses it. Products come first, and of those that need each other, the one that is needed last: with
/// products at hand, what is left may be a row's.
fn next(k: &Kernels<'_>, def: &OutDef) -> Option<Id> {
    // Nodes that are yet to be looked at, and the axes of the loops that all of their users stand in.
    let mut open: BTreeMap<Id, BTreeSet<Axis>> = BTreeMap::new();
    let note = |open: &mut BTreeMap<Id, BTreeSet<Axis>>, id: Id, scope: &BTreeSet<Axis>| {
        open.entry(id).and_modify(|all| all.retain(|axis| scope.contains(axis))).or_insert_with(|| scope.clone());
    };
    for store in def.stores.iter() {
        let mut scope: BTreeSet<Axis> = store.over.iter().copied().collect();
        store.at.iter().for_each(|id| note(&mut open, *id, &scope));
        match k.node(store.node) {
            // What the output is made of: loops over the output compute it.
            Node::Fold(_, run, body)
                if contraction(k, store.node).is_none() && k.free(store.node).len() == scope.len() =>
            {
                scope.extend(k.bound(run));
                note(&mut open, body, &scope);
            }
            Node::Scan { axis, body, .. } if runs(k, def, axis) => note(&mut open, body, &scope),
            _ => note(&mut open, store.node, &scope),
        }
    }
    let mut found = None;
    while let Some((id, mut scope)) = open.pop_last() {
        if contraction(k, id).is_some() {
            return Some(id);
        }
        let cut = match k.node(id) {
            Node::Scan { .. } => true,
            Node::Fold(..) => scope.is_empty() || k.free(id).len() < scope.len(),
            _ => false,
        };
        if cut {
            found = found.or(Some(id));
        }
        if let Node::Fold(_, run, _) = k.node(id) {
            scope.extend(k.bound(run));
        }
        k.operands(id).into_iter().for_each(|id| note(&mut open, id, &scope));
    }
    found
}

/// Whether a row of an output computes a scan along that axis as it goes.
pub(super) fn runs(k: &Kernels<'_>, def: &OutDef, along: Axis) -> bool {
    plain_store(k, def).is_some_and(|store| store.over.last() == Some(&along))
}

/// The order in which the axes of a value are stored: that of the loops that use it, or that of an argument it reads; the
/// axis of a scan comes last.
fn order(k: &Kernels<'_>, id: Id, over: &[Axis]) -> Vec<Axis> {
    let free = k.free(id);
    let covers = |axes: &[Axis]| free.iter().all(|axis| axes.contains(axis));
    let loads = k.reach(&[id], |_| false).into_iter().filter_map(|id| k.plain_load(id));
    let like = [over.to_vec()].into_iter().chain(loads).find(|axes| covers(axes)).unwrap_or_else(|| free.to_vec());
    let mut order: Vec<Axis> = vec![];
    for axis in like {
        if free.contains(&axis) && !order.contains(&axis) {
            order.push(axis);
        }
    }
    if let Node::Scan { axis, .. } = k.node(id) {
        order.retain(|a| *a != axis);
        order.push(axis);
    }
    order
}
