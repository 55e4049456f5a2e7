//! Inlining of called kernels.

use crate::build::Builder;
use crate::kernel::{Id, Kernel, Link, Node};
use crate::rewrite::Remake;
use crate::verify::{Fault, verify};
use std::collections::HashMap;

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
    let mut linker = Linker { done: HashMap::new() };
    // Calls make new nodes, which are linked as they are made: only those that were there are visited.
    let mut ids: Vec<Id> = Vec::with_capacity(b.len() as usize);
    for at in 0..b.len() {
        let node = b.node(Id(at));
        // Of what a call becomes, errors point at the call.
        b.set_span(b.span(Id(at)));
        let links = b.links_of(&node).to_vec();
        let new = linker.copy(&mut b, node, &kernel.callees, &links, &ids);
        ids.push(new);
    }
    b.set_span(0);
    for out in &mut outs {
        for store in out.stores.to_mut() {
            store.at.to_mut().iter_mut().for_each(|id| *id = ids[id.at()]);
            store.node = ids[store.node.at()];
        }
    }
    b.put_outs(outs);
    b
}

struct Linker {
    /// The nodes of a callee for these arguments.
    done: HashMap<(*const Kernel, Vec<Id>), Vec<Id>>,
}

impl Linker {
    /// A node with these links over the operands `ids`, made in `b`.
    fn copy(&mut self, b: &mut Builder, node: Node, callees: &[&'static Kernel], links: &[Link], ids: &[Id]) -> Id {
        let links: Vec<Link> = links.iter().map(|l| Link { k: l.k, id: ids[l.id.at()] }).collect();
        if let Node::Call { callee, out, .. } = node {
            let args: Vec<Id> = links.iter().map(|l| l.id).collect();
            return self.inline(b, callees[callee as usize], out, args);
        }
        let run = node.run().map(|_| b.run(&links));
        let node = node.with(|id| ids[id.at()], |old| run.unwrap_or(old));
        b.remake(Id(ids.len() as u32), node)
    }

    /// An output of a callee, its arguments replaced.
    fn inline(&mut self, b: &mut Builder, callee: &'static Kernel, out: u32, args: Vec<Id>) -> Id {
        let result = callee.outs[out as usize].stores[0].node;
        let key = (std::ptr::from_ref(callee), args);
        if let Some(ids) = self.done.get(&key) {
            return ids[result.at()];
        }
        let mut ids: Vec<Id> = Vec::with_capacity(callee.nodes.len());
        for &node in callee.nodes.iter() {
            let new = if let Node::Load { arg, .. } = node {
                key.1[arg.at()]
            } else {
                let links = callee.links_of(&node);
                self.copy(b, node, &callee.callees, links, &ids)
            };
            ids.push(new);
        }
        let id = ids[result.at()];
        self.done.insert(key, ids);
        id
    }
}
