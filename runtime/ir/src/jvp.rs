//! Forward mode: from a kernel to the kernel of its directional derivative.

use crate::kernel::{Arg, Id, Kernel, Kind, Node, Store};
use crate::local::{partial, passes};
use crate::rules::Simplifier;
use crate::vjp::{NoDerivative, VjpError, active, open};

/// The change of the outputs for a change of the arguments `wrt`.
///
/// The kernel takes the primal's arguments, then one tangent for each of `wrt`, and gives one tangent for each float
/// output, of the same mode.
///
/// # Errors
/// Every construct on the way from `wrt` to the outputs that has no rule, or the faults of the kernel.
pub fn jvp(kernel: &Kernel, wrt: &[Arg]) -> Result<Kernel, Vec<VjpError>> {
    let (b, outs) = open(kernel, wrt, None)?;
    let active = active(&b, wrt);
    let mut s = Simplifier::new(b);
    let mut tangents = vec![];
    for &arg in wrt {
        let def = s.b.args()[arg.at()].clone();
        tangents.push((arg, s.b.arg(&format!("d{}", def.name), Kind::Float, &def.dims)));
    }
    let (mut changes, mut errors) = (Vec::<Option<Id>>::new(), vec![]);
    for v in (0..s.frozen.0).map(Id) {
        let change = if active[v.at()] { change(&mut s, v, &tangents, &changes, &mut errors) } else { None };
        changes.push(change);
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    for out in outs.iter().filter(|o| o.kind == Kind::Float) {
        let mut stores = vec![];
        for store in out.stores.iter() {
            let node = changes[store.node.at()].unwrap_or_else(|| s.zero());
            let node = s.polish(node);
            stores.push(Store { node, ..store.clone() });
        }
        s.b.output_of(&format!("d{}", out.name), out.kind, &out.dims, out.mode, stores);
    }
    Ok(s.b.finish())
}

/// The change of a node, from those of its operands.
fn change(
    s: &mut Simplifier,
    v: Id,
    tangents: &[(Arg, Arg)],
    changes: &[Option<Id>],
    errors: &mut Vec<VjpError>,
) -> Option<Id> {
    let node = s.b.node(v);
    if let Node::Load { arg, at, guard } = node {
        let &(_, tangent) = tangents.iter().find(|t| t.0 == arg)?;
        return Some(s.b.intern(Node::Load { arg: tangent, at, guard }));
    }
    let mut terms = vec![];
    for (at, operand) in s.b.operands(v).into_iter().enumerate() {
        let Some(change) = changes[operand.at()].filter(|_| passes(&node, at)) else { continue };
        match partial(s, v, at, change) {
            Ok((k, e)) => {
                let e = if let Node::Fold(_, axes, _) = node {
                    let axes = s.b.bound(axes);
                    s.fold_sum(&axes, e)
                } else if let Node::Scan { fold, axis, reverse, exclusive, .. } = node {
                    s.b.scan(fold, axis, reverse, exclusive, e)
                } else {
                    e
                };
                terms.push((k, e));
            }
            Err(what) => {
                let (node, span) = (Some(v), Some(s.b.span(v)));
                errors.push(VjpError { node, span, what: NoDerivative::Construct(what) });
            }
        }
    }
    Some(s.sum(0.0, &terms))
}
