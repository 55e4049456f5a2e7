//! Inlining of called kernels.

use crate::build::Builder;
use crate::kernel::{Id, Kernel, Link, Node};
use crate::rewrite::Remake;
use crate::verify::{Fault, verify};

/// The kernel with every [`Node::Call`] replaced by the callee's nodes, and no callees.
///
/// # Errors
/// The faults of the kernel.
pub fn link(kernel: &Kernel) -> Result<Kernel, Vec<Fault>> {
    let faults = verify(kernel);
    if faults.is_empty() { Ok(link_verified(kernel).finish()) } else { Err(faults) }
}

/// A builder that holds the linked kernel.
pub(crate) fn link_verified(kernel: &Kernel) -> Builder {
    let mut b = Builder::open_verified(kernel);
    if kernel.callees.is_empty() {
        return b;
    }
    let mut outs = b.take_outs();
    // Calls make new nodes, which are linked as they are made: only those that were there are visited.
    let mut ids: Vec<Id> = Vec::with_capacity(b.len() as usize);
    for at in 0..b.len() {
        let node = b.node(Id(at));
        let new = copy(&mut b, node, kernel, |run, b| b.links(run).to_vec(), &ids);
        ids.push(new);
    }
    for out in &mut outs {
        for store in out.stores.to_mut() {
            store.at.to_mut().iter_mut().for_each(|id| *id = ids[id.at()]);
            store.node = ids[store.node.at()];
        }
    }
    b.put_outs(outs);
    b
}

/// A node of `kernel` over the operands `ids`, made in `b`.
fn copy(
    b: &mut Builder,
    node: Node,
    kernel: &Kernel,
    links: impl Fn(crate::Run, &Builder) -> Vec<Link>,
    ids: &[Id],
) -> Id {
    let run = node.run().map(|run| {
        let links: Vec<Link> =
            links(run, b).iter().map(|l| Link { k: l.k, id: ids.get(l.id.at()).copied().unwrap_or(l.id) }).collect();
        (b.run(&links), links)
    });
    if let (Node::Call { callee, out, .. }, Some((_, args))) = (node, &run) {
        let args: Vec<Id> = args.iter().map(|l| l.id).collect();
        return inline(b, kernel.callees[callee as usize], out, &args);
    }
    let node = node.with(|id| ids.get(id.at()).copied().unwrap_or(id), |old| run.map_or(old, |r| r.0));
    b.remake(node)
}

/// An output of a callee, its arguments replaced.
fn inline(b: &mut Builder, callee: &Kernel, out: u32, args: &[Id]) -> Id {
    let mut ids: Vec<Id> = Vec::with_capacity(callee.nodes.len());
    for &node in callee.nodes.iter() {
        let new = if let Node::Load { arg, .. } = node {
            args[arg.at()]
        } else {
            copy(b, node, callee, |run, _| callee.links(run).to_vec(), &ids)
        };
        ids.push(new);
    }
    ids[callee.outs[out as usize].stores[0].node.at()]
}
