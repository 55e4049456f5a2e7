//! Changes to the nodes of a kernel: numbers move, meanings stay.

use cotangent_ir::{Arg, ArgDef, Axis, Id, Kernel, Link, Node, Num, OutDef, Run, Store};

/// Nodes that were put into a kernel, by what they were then: none is made twice, also where it has become a load since.
#[derive(Default)]
pub(super) struct Made(Vec<New>);

/// A node as it was made; its run is [`NOWHERE`].
struct New {
    node: Node,
    links: Vec<(Num, Id)>,
    id: Id,
}

impl Made {
    /// As [`insert`], unless such a node was put before this one earlier; gives its number, and that of the node before
    /// which it was to be put from then on.
    pub(super) fn insert(
        &mut self,
        kernel: &mut Kernel,
        before: Id,
        links: &[(Num, Id)],
        node: impl Fn(Run) -> Node,
    ) -> (Id, Id) {
        let wanted = node(NOWHERE);
        let known = self.0.iter().find(|new| new.node == wanted && new.links == links && new.id < before);
        if let Some(New { id, .. }) = known {
            return (*id, before);
        }
        let new = insert(kernel, before, links, node);
        let moved = |id: Id| if id >= new { Id(id.0 + 1) } else { id };
        for New { node, links, id } in &mut self.0 {
            *node = node.with(moved, |run| run);
            links.iter_mut().for_each(|link| link.1 = moved(link.1));
            *id = moved(*id);
        }
        self.0.push(New { node: wanted, links: links.to_vec(), id: new });
        (new, Id(new.0 + 1))
    }
}

/// The run of a node whose links are beside it.
const NOWHERE: Run = Run { at: 0, len: 0 };

/// Puts a node before another one, whose number and those of all later ones grow by one; gives its number.
///
/// Its operands come before it.
pub(super) fn insert(kernel: &mut Kernel, before: Id, links: &[(Num, Id)], node: impl FnOnce(Run) -> Node) -> Id {
    let moved = |id: Id| if id >= before { Id(id.0 + 1) } else { id };
    let all = |list: &mut [Id]| list.iter_mut().for_each(|id| *id = moved(*id));
    kernel.nodes.to_mut().iter_mut().for_each(|node| *node = node.with(moved, |run| run));
    kernel.links.to_mut().iter_mut().for_each(|link| link.id = moved(link.id));
    kernel.axes.to_mut().iter_mut().for_each(|axis| axis.extent = moved(axis.extent));
    kernel.args.to_mut().iter_mut().for_each(|arg| all(arg.dims.to_mut()));
    for out in kernel.outs.to_mut() {
        all(out.dims.to_mut());
        for store in out.stores.to_mut() {
            all(store.at.to_mut());
            store.node = moved(store.node);
        }
    }
    let run = run(kernel, links);
    kernel.nodes.to_mut().insert(before.at(), node(run));
    before
}

/// Puts another node in the place of one.
pub(super) fn replace(kernel: &mut Kernel, id: Id, links: &[(Num, Id)], node: impl FnOnce(Run) -> Node) {
    let run = run(kernel, links);
    if let Some(place) = kernel.nodes.to_mut().get_mut(id.at()) {
        *place = node(run);
    }
}

/// Makes the node that an output was to hold a load of an argument that holds it.
pub(super) fn replace_by_load(kernel: &mut Kernel, def: OutDef) {
    let arg = Arg(kernel.args.len() as u32);
    for Store { at, node, .. } in def.stores.iter() {
        let links: Vec<(Num, Id)> = at.iter().map(|id| (Num::int(0), *id)).collect();
        replace(kernel, *node, &links, |at| Node::Load { arg, at, guard: false });
    }
    kernel.args.to_mut().push(ArgDef { name: def.name, kind: def.kind, dims: def.dims });
}

/// The store `[axes] = node`, for axes along which the node varies.
pub(super) fn plain_store(kernel: &Kernel, axes: &[Axis], node: Id) -> Store {
    let index = |axis: &Axis| kernel.nodes.iter().position(|n| *n == Node::Index(*axis));
    let at = axes.iter().filter_map(|axis| Some(Id(index(axis)? as u32)));
    Store { over: axes.to_vec().into(), at: at.collect(), node }
}

fn run(kernel: &mut Kernel, links: &[(Num, Id)]) -> Run {
    let run = Run { at: kernel.links.len() as u32, len: links.len() as u32 };
    kernel.links.to_mut().extend(links.iter().map(|(k, id)| Link { k: *k, id: *id }));
    run
}
