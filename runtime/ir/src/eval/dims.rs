//! The symbolic extents, from the shapes of the arguments.

use super::{EvalError, Value, ops};
use crate::kernel::{Id, Kernel, Kind, Link, Node};

/// The value of every node that an extent may consist of, by its id; none for other nodes.
pub(super) type Sizes = Vec<Option<i64>>;

/// The dims, of which `known` may hold some, and every extent.
pub(super) fn solve(
    kernel: &Kernel,
    args: &[Value],
    known: &[Option<i64>],
) -> Result<(Vec<Option<i64>>, Sizes), EvalError> {
    let mut dims: Vec<Option<i64>> = known.to_vec();
    dims.resize(kernel.dims.len(), None);
    let given = |a: usize| args[a].shape.iter().map(|&n| i64::try_from(n).unwrap_or(i64::MAX));
    loop {
        let (before, sizes) = (dims.clone(), evaluate(kernel, &dims));
        for (a, def) in kernel.args.iter().enumerate() {
            for (&dim, n) in def.dims.iter().zip(given(a)) {
                invert(kernel, &sizes, dim, n, &mut dims);
            }
        }
        if dims == before {
            break;
        }
    }
    let sizes = evaluate(kernel, &dims);
    for (a, def) in kernel.args.iter().enumerate() {
        let takes: Vec<i64> = def.dims.iter().map(|dim| sizes[dim.at()].unwrap_or(-1)).collect();
        if !given(a).eq(takes.iter().copied()) && !takes.contains(&-1) {
            return Err(EvalError::Shape { name: def.name.to_string(), takes, given: args[a].shape.clone() });
        }
    }
    for node in kernel.nodes.iter() {
        if let Node::Size(dim) = *node
            && dims[dim.at()].is_none()
        {
            return Err(EvalError::Unknown { dim: kernel.dims[dim.at()].to_string() });
        }
    }
    for (a, def) in kernel.args.iter().enumerate() {
        let takes: Vec<i64> = def.dims.iter().map(|dim| sizes[dim.at()].unwrap_or(-1)).collect();
        if !given(a).eq(takes.iter().copied()) {
            return Err(EvalError::Shape { name: def.name.to_string(), takes, given: args[a].shape.clone() });
        }
    }
    Ok((dims, sizes))
}

fn evaluate(kernel: &Kernel, dims: &[Option<i64>]) -> Sizes {
    let mut sizes: Sizes = Vec::with_capacity(kernel.nodes.len());
    for node in kernel.nodes.iter() {
        let at = |id: Id| sizes.get(id.at()).copied().flatten();
        let value = match *node {
            Node::Const(Kind::Int, n) => Some(n.as_int()),
            Node::Size(dim) => dims[dim.at()],
            Node::Sum { kind: Kind::Int, c, terms } => kernel
                .links(terms)
                .iter()
                .try_fold(c.as_int(), |sum, l| Some(sum.wrapping_add(l.k.as_int().wrapping_mul(at(l.id)?)))),
            Node::Prod { kind: Kind::Int, factors } => kernel
                .links(factors)
                .iter()
                .try_fold(1i64, |product, l| Some(product.wrapping_mul(at(l.id)?.wrapping_pow(l.k.as_int() as u32)))),
            Node::Binary(op, a, b) => match (at(a), at(b)) {
                (Some(x), Some(y)) => ops::ints(op, x, y),
                (_, _) => None,
            },
            Node::Const(Kind::Float | Kind::Bool, _)
            | Node::Sum { kind: Kind::Float | Kind::Bool, .. }
            | Node::Prod { kind: Kind::Float | Kind::Bool, .. }
            | Node::Index(_)
            | Node::Load { .. }
            | Node::Unary(..)
            | Node::Select(..)
            | Node::Cast(..)
            | Node::Fold(..)
            | Node::Scan { .. }
            | Node::Random { .. }
            | Node::Call { .. } => None,
        };
        sizes.push(value);
    }
    sizes
}

/// Learns a dim from `id == n`, where only one is unknown and it can be solved for.
fn invert(kernel: &Kernel, sizes: &Sizes, id: Id, n: i64, dims: &mut [Option<i64>]) {
    let (mut id, mut n) = (id, n);
    loop {
        let unknown = |links: &[Link]| {
            let mut unknown = links.iter().filter(|l| sizes[l.id.at()].is_none());
            match (unknown.next().copied(), unknown.next()) {
                (Some(only), None) => Some(only),
                (_, _) => None,
            }
        };
        let known = |l: &&Link| sizes[l.id.at()].is_some();
        let value = |l: &Link| sizes[l.id.at()].unwrap_or(0);
        if let Node::Size(dim) = kernel.nodes[id.at()] {
            dims[dim.at()].get_or_insert(n);
            return;
        } else if let Node::Sum { kind: Kind::Int, c, terms } = kernel.nodes[id.at()] {
            let Some(only) = unknown(kernel.links(terms)) else { return };
            let known = kernel.links(terms).iter().filter(known);
            let sum = known.fold(c.as_int(), |sum, l| sum.wrapping_add(l.k.as_int().wrapping_mul(value(l))));
            (id, n) = match n.wrapping_sub(sum).checked_rem(only.k.as_int()) {
                Some(0) => (only.id, n.wrapping_sub(sum).wrapping_div(only.k.as_int())),
                Some(_) | None => return,
            };
        } else if let Node::Prod { kind: Kind::Int, factors } = kernel.nodes[id.at()] {
            let Some(only) = unknown(kernel.links(factors)) else { return };
            let known = kernel.links(factors).iter().filter(known);
            let product = known.fold(1i64, |p, l| p.wrapping_mul(value(l).wrapping_pow(l.k.as_int() as u32)));
            (id, n) = match n.checked_rem(product) {
                Some(0) if only.k.as_int() == 1 => (only.id, n.wrapping_div(product)),
                Some(_) | None => return,
            };
        } else {
            return;
        }
    }
}
