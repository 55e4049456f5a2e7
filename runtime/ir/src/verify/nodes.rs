//! The typing rules of nodes, one arm a variant.

use super::{DEPTH, POWER, Part, Verifier, What};
use crate::kernel::{Binary, Fold, Id, Kind, Link, Node, Run, Unary};

impl Verifier<'_> {
    /// Checks a node and notes its kind and free axes. One whose operands do not exist is passed over in what follows.
    pub(super) fn node(&mut self, id: Id, node: &Node) {
        let sound = self.operands_exist(id, node) && self.entries_exist(id, node);
        if sound {
            self.rule(id, node);
        }
        let depth = self.depth_of(id, node, sound);
        let (kind, free) = if sound {
            let links = self.kernel.links_of(node);
            (self.known().kind(node), self.known().free(node, links))
        } else {
            (Kind::Float, vec![])
        };
        self.kinds.push(kind);
        self.free.push(free);
        self.depth.push(depth);
    }

    fn operands_exist(&mut self, id: Id, node: &Node) -> bool {
        if let Some(run) = node.run()
            && run.at as usize + run.len as usize > self.kernel.links.len()
        {
            self.report(Some(id), What::Run);
            return false;
        }
        let mut late = vec![];
        node.operands(self.kernel.links_of(node), &mut |operand| late.push(operand));
        if let Node::Fold(_, run, _) = *node {
            late.extend(self.kernel.links(run).iter().map(|l| l.id));
        }
        late.retain(|&operand| operand >= id);
        late.iter().for_each(|&operand| self.report(Some(id), What::Order(operand)));
        late.is_empty()
    }

    fn entries_exist(&mut self, id: Id, node: &Node) -> bool {
        let k = self.kernel;
        let (part, index, len) = match *node {
            Node::Size(dim) => (Part::Dim, dim.0, k.dims.len()),
            Node::Index(axis) | Node::Scan { axis, .. } => (Part::Axis, axis.0, k.axes.len()),
            Node::Load { arg, .. } => (Part::Arg, arg.0, k.args.len()),
            Node::Call { callee, out, .. } => match k.callees.get(callee as usize) {
                Some(callee) => (Part::Out, out, callee.outs.len()),
                None => (Part::Callee, callee, k.callees.len()),
            },
            Node::Const(..)
            | Node::Sum { .. }
            | Node::Prod { .. }
            | Node::Unary(..)
            | Node::Binary(..)
            | Node::Select(..)
            | Node::Cast(..)
            | Node::Fold(..)
            | Node::Random { .. } => return true,
        };
        let exists = (index as usize) < len;
        if !exists {
            self.report(Some(id), What::No { part, index });
        }
        exists
    }

    fn depth_of(&mut self, id: Id, node: &Node, sound: bool) -> u32 {
        let mut depth = 0;
        if sound {
            node.operands(self.kernel.links_of(node), &mut |operand| depth = depth.max(self.depth[operand.at()]));
        }
        if matches!(node, Node::Fold(..) | Node::Scan { .. }) {
            depth += 1;
            if depth == DEPTH + 1 {
                self.report(Some(id), What::Depth);
            }
        }
        depth
    }

    fn rule(&mut self, id: Id, node: &Node) {
        match *node {
            Node::Const(..) | Node::Size(_) | Node::Index(_) => {}
            Node::Cast(..) => {}
            Node::Load { arg, at, .. } => {
                let def = &self.kernel.args[arg.at()];
                if at.len as usize != def.dims.len() {
                    let (rank, places) = (def.dims.len(), at.len as usize);
                    self.report(Some(id), What::Rank { name: def.name.to_string(), rank, places });
                }
                for link in self.kernel.links(at) {
                    let found = self.kinds[link.id.at()];
                    if found != Kind::Int {
                        self.report(Some(id), What::Place { name: def.name.to_string(), found });
                    }
                }
            }
            Node::Sum { kind, terms, .. } => self.terms(id, "sum", kind, terms),
            Node::Prod { kind, factors } => {
                self.terms(id, "product", kind, factors);
                for &Link { k, .. } in self.kernel.links(factors) {
                    let fits = (1..=POWER).contains(&k.as_int().unsigned_abs());
                    if !fits || (kind == Kind::Int && k.as_int() < 0) {
                        self.report(Some(id), What::Power(k.as_int()));
                    }
                }
            }
            Node::Unary(op, a) => self.takes(id, op.name(), a, unary_kinds(op)),
            Node::Binary(op, a, b) => {
                let kinds = binary_kinds(op);
                self.takes(id, op.name(), a, kinds);
                self.alike(id, op.name(), a, b);
            }
            Node::Select(q, a, b) => {
                self.takes(id, "select", q, Kinds::Bool);
                self.alike(id, "select", a, b);
            }
            Node::Fold(fold, axes, body) => {
                let numbers = matches!(fold, Fold::Sum | Fold::Prod);
                self.takes(id, fold.name(), body, if numbers { Kinds::Number } else { Kinds::Any });
                self.axes(id, fold.name(), axes);
            }
            Node::Scan { fold, body, .. } => match fold {
                Fold::Sum | Fold::Prod => self.takes(id, fold.scan_name(), body, Kinds::Number),
                Fold::Max | Fold::Min => {}
                Fold::ArgMax | Fold::ArgMin => self.report(Some(id), What::Scan(fold)),
            },
            Node::Random { key, at } => {
                self.takes(id, "random", key, Kinds::Int);
                self.takes(id, "random", at, Kinds::Int);
            }
            Node::Call { callee, args, .. } => self.call(id, callee as usize, args),
        }
    }

    fn terms(&mut self, id: Id, of: &'static str, kind: Kind, run: Run) {
        if run.len == 0 {
            self.report(Some(id), What::Empty(of));
        }
        if kind == Kind::Bool {
            self.report(Some(id), What::Kind { of, found: kind, needs: Kinds::Number.phrase() });
        }
        for link in self.kernel.links(run) {
            let other = self.kinds[link.id.at()];
            if other != kind {
                return self.report(Some(id), What::Mixed { of, first: kind, other });
            }
        }
    }

    fn axes(&mut self, id: Id, of: &'static str, run: Run) {
        if run.len == 0 {
            self.report(Some(id), What::Empty(of));
        }
        let links = self.kernel.links(run);
        let axes = self.known().bound(links);
        if axes.len() != links.len() {
            self.report(Some(id), What::NotAnAxis);
        }
        for (at, axis) in axes.iter().enumerate() {
            if axes[..at].contains(axis) {
                let name = self.kernel.axes.get(axis.at()).map_or_else(String::new, |a| a.name.to_string());
                self.report(Some(id), What::BoundTwice(name));
            }
        }
    }

    fn call(&mut self, id: Id, callee: usize, args: Run) {
        let kernel = self.kernel.callees[callee];
        let (name, links) = (kernel.name.to_string(), self.kernel.links(args));
        if !self.callees.get(callee).copied().unwrap_or(false) {
            return self.report(Some(id), What::Uncallable(name));
        }
        if kernel.args.len() != links.len() {
            let (takes, given) = (kernel.args.len(), links.len());
            return self.report(Some(id), What::Arguments { name, takes, given });
        }
        for (def, link) in kernel.args.iter().zip(links) {
            let found = self.kinds[link.id.at()];
            if found != def.kind {
                let needs = def.kind.phrase();
                self.report(Some(id), What::Kind { of: "call", found, needs });
            }
        }
    }

    fn takes(&mut self, id: Id, of: &'static str, operand: Id, kinds: Kinds) {
        let found = self.kinds[operand.at()];
        if !kinds.allow(found) {
            self.report(Some(id), What::Kind { of, found, needs: kinds.phrase() });
        }
    }

    fn alike(&mut self, id: Id, of: &'static str, a: Id, b: Id) {
        let (first, other) = (self.kinds[a.at()], self.kinds[b.at()]);
        if first != other {
            self.report(Some(id), What::Mixed { of, first, other });
        }
    }
}

/// The kinds that a construct takes.
#[derive(Clone, Copy)]
enum Kinds {
    Any,
    Float,
    Int,
    Bool,
    Number,
    Bits,
}

impl Kinds {
    fn allow(self, kind: Kind) -> bool {
        match self {
            Kinds::Any => true,
            Kinds::Float => kind == Kind::Float,
            Kinds::Int => kind == Kind::Int,
            Kinds::Bool => kind == Kind::Bool,
            Kinds::Number => kind != Kind::Bool,
            Kinds::Bits => kind != Kind::Float,
        }
    }

    const fn phrase(self) -> &'static str {
        match self {
            Kinds::Any => "anything",
            Kinds::Float => "floats",
            Kinds::Int => "integers",
            Kinds::Bool => "truth values",
            Kinds::Number => "floats or integers",
            Kinds::Bits => "truth values or integers",
        }
    }
}

fn unary_kinds(op: Unary) -> Kinds {
    match op {
        Unary::Detach => Kinds::Any,
        Unary::Not => Kinds::Bits,
        Unary::Abs => Kinds::Number,
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
        | Unary::Trunc => Kinds::Float,
    }
}

fn binary_kinds(op: Binary) -> Kinds {
    match op {
        Binary::Eq => Kinds::Any,
        Binary::Max | Binary::Min | Binary::Lt | Binary::Le | Binary::Rem => Kinds::Number,
        Binary::Pow | Binary::Atan2 => Kinds::Float,
        Binary::Quot | Binary::Shl | Binary::Shr => Kinds::Int,
        Binary::And | Binary::Or | Binary::Xor => Kinds::Bits,
    }
}
