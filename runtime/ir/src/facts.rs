//! The kind and the free axes of a node, given those of its operands.
//!
//! Both are total: for a faulty node they give some answer, and `verify` says what is wrong.

use crate::kernel::{ArgDef, Axis, Binary, Fold, Id, Kernel, Kind, Link, Node, Run, Unary};

/// What is known of the nodes before one.
pub(crate) struct Known<'a> {
    pub(crate) nodes: &'a [Node],
    pub(crate) args: &'a [ArgDef],
    pub(crate) callees: &'a [&'static Kernel],
    pub(crate) kinds: &'a [Kind],
    pub(crate) free: &'a [Vec<Axis>],
}

impl Known<'_> {
    fn kind_of(&self, id: Id) -> Kind {
        self.kinds.get(id.at()).copied().unwrap_or(Kind::Float)
    }

    /// The kind of a node.
    pub(crate) fn kind(&self, node: &Node) -> Kind {
        match *node {
            Node::Const(kind, _) | Node::Sum { kind, .. } | Node::Prod { kind, .. } | Node::Cast(kind, _) => kind,
            Node::Size(_) | Node::Index(_) | Node::Random { .. } => Kind::Int,
            Node::Load { arg, .. } => self.args.get(arg.at()).map_or(Kind::Float, |a| a.kind),
            Node::Unary(op, a) => match op {
                Unary::Abs | Unary::Not | Unary::Detach => self.kind_of(a),
                Unary::Exp
                | Unary::Expm1
                | Unary::Log
                | Unary::Log1p
                | Unary::Sin
                | Unary::Cos
                | Unary::Tan
                | Unary::Asin
                | Unary::Acos
                | Unary::Atan
                | Unary::Sinh
                | Unary::Cosh
                | Unary::Tanh
                | Unary::Asinh
                | Unary::Acosh
                | Unary::Atanh
                | Unary::Erf
                | Unary::Erfc
                | Unary::Erfinv
                | Unary::Sigmoid
                | Unary::Sqrt
                | Unary::Rsqrt
                | Unary::Lgamma
                | Unary::Digamma
                | Unary::Trigamma
                | Unary::Floor
                | Unary::Ceil
                | Unary::Round
                | Unary::Trunc => Kind::Float,
            },
            Node::Binary(op, a, _) => match op {
                Binary::Max | Binary::Min | Binary::Rem | Binary::And | Binary::Or | Binary::Xor => self.kind_of(a),
                Binary::Pow | Binary::Atan2 => Kind::Float,
                Binary::Quot | Binary::Shl | Binary::Shr => Kind::Int,
                Binary::Eq | Binary::Lt | Binary::Le => Kind::Bool,
            },
            Node::Select(_, a, _) => self.kind_of(a),
            Node::Fold(Fold::ArgMax | Fold::ArgMin, _, _) => Kind::Int,
            Node::Fold(Fold::Sum | Fold::Prod | Fold::Max | Fold::Min, _, body) | Node::Scan { body, .. } => {
                self.kind_of(body)
            }
            Node::Call { callee, out, .. } => {
                let callee = self.callees.get(callee as usize);
                callee.and_then(|k| k.outs.get(out as usize)).map_or(Kind::Float, |o| o.kind)
            }
        }
    }

    /// The axes that a fold's run names.
    pub(crate) fn bound(&self, links: &[Link]) -> Vec<Axis> {
        indices(self.nodes, links)
    }

    /// The free axes of a node whose run holds `links`, in ascending order.
    pub(crate) fn free(&self, node: &Node, links: &[Link]) -> Vec<Axis> {
        let mut axes = vec![];
        node.operands(links, &mut |id| axes.extend(self.free.get(id.at()).into_iter().flatten()));
        match *node {
            Node::Index(axis) | Node::Scan { axis, .. } => axes.push(axis),
            Node::Fold(..) => {
                let bound = self.bound(links);
                axes.retain(|a| !bound.contains(a));
            }
            Node::Const(..)
            | Node::Size(_)
            | Node::Load { .. }
            | Node::Sum { .. }
            | Node::Prod { .. }
            | Node::Unary(..)
            | Node::Binary(..)
            | Node::Select(..)
            | Node::Cast(..)
            | Node::Random { .. }
            | Node::Call { .. } => {}
        }
        axes.sort_unstable();
        axes.dedup();
        axes
    }
}

/// The kind and the free axes of every node of a kernel without faults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The kind, by node.
    pub kinds: Vec<Kind>,
    /// The free axes in ascending order, by node.
    pub free: Vec<Vec<Axis>>,
}

impl Facts {
    /// Those of `kernel`.
    pub fn of(kernel: &Kernel) -> Facts {
        let mut facts = Facts { kinds: vec![], free: vec![] };
        for node in kernel.nodes.iter() {
            let links = kernel.links_of(node);
            let known = Known {
                nodes: &kernel.nodes,
                args: &kernel.args,
                callees: &kernel.callees,
                kinds: &facts.kinds,
                free: &facts.free,
            };
            let (kind, free) = (known.kind(node), known.free(node, links));
            facts.kinds.push(kind);
            facts.free.push(free);
        }
        facts
    }

    /// The axes that a fold binds.
    pub fn bound(kernel: &Kernel, run: Run) -> Vec<Axis> {
        indices(&kernel.nodes, kernel.links(run))
    }
}

/// The axes whose positions are linked.
fn indices(nodes: &[Node], links: &[Link]) -> Vec<Axis> {
    let index = |link: &Link| match nodes.get(link.id.at()) {
        Some(&Node::Index(axis)) => Some(axis),
        Some(_) | None => None,
    };
    links.iter().filter_map(index).collect()
}
