//! Loads of tensors, and the assignments to them.

use super::super::ast::{At, Expr, Operator, ParamKind, text};
use super::super::check::index as check;
use super::dims::Extent;
use super::{Binding, Lower};
use cotangent_ir::{Id, Kind};
use proc_macro2::Ident;

/// A load that must be inside.
pub(super) struct Access {
    pub(super) name: String,
    pub(super) indices: Vec<Index>,
    pub(super) extents: Vec<Extent>,
    /// Whether a guard could help: the tensor is not one that is changed.
    pub(super) free: bool,
}

/// One index of a load.
#[derive(Clone, Copy)]
pub(super) struct Index {
    pub(super) node: Id,
    pub(super) at: At,
}

impl Lower<'_> {
    /// `x[i][j]`; with `guard`, 0 outside.
    pub(super) fn load(&mut self, name: &Ident, indices: &[Expr], at: &At, guard: bool) -> Option<Id> {
        let param = self.tensor(name);
        // Mistakes in the indices are found in any case.
        let places = self.indices(indices);
        let (param, places) = (param?, places?);
        let extents = self.rank(param, name, indices.len(), at)?;
        let parameter = &mut self.params[param];
        parameter.used = true;
        let nodes: Vec<Id> = places.iter().map(|p| p.node).collect();
        let (arg, by_mut, stored) = (parameter.arg, parameter.ast.by_mut, parameter.stored);
        if by_mut && self.places.as_ref() != Some(&nodes) {
            check::changed_tensor_elsewhere(at, &text(name), self.diags);
            return None;
        }
        if let Some(value) = stored {
            return Some(value);
        }
        self.note(&At::from(name.span()));
        if guard {
            return Some(self.b.load_or_zero(arg, &nodes));
        }
        self.accesses.push(Access { name: text(name), indices: places, extents, free: !by_mut });
        Some(self.b.load(arg, &nodes))
    }

    /// `x[i][j] = value`, or with an operator `x[i][j] += value`.
    pub(super) fn assign(&mut self, target: &Expr, operator: Option<(Operator, At)>, value: &Expr) {
        let Some((name, indices)) = target_of(target) else {
            self.scalar(value);
            check::assignment_target(&target.at, self.diags);
            return;
        };
        let param = match self.lookup(&text(name)) {
            Some(Binding::Param(param)) if self.params[param].ast.by_mut => Some(param),
            Some(Binding::Param(param)) => {
                let tensor = matches!(self.params[param].ast.kind, ParamKind::Tensor(_));
                check::assignment_without_mut(&target.at, &text(name), tensor, self.diags);
                None
            }
            Some(Binding::Value(_) | Binding::Hidden) => {
                check::assignment_to_variable(&target.at, &text(name), self.diags);
                None
            }
            None => {
                self.unknown_name(name);
                None
            }
        };
        let places = self.indices(indices);
        let new = match operator {
            None => self.scalar(value),
            Some((operator, at)) if param.is_some() => self.binary(operator, &at, target, value),
            Some(_) => {
                self.scalar(value);
                None
            }
        };
        let Some(param) = param else { return };
        self.params[param].assigned = true;
        let (Some(places), Some(new)) = (places, new) else { return };
        if self.rank(param, name, indices.len(), &target.at).is_none() {
            return;
        }
        if self.places.as_deref() != Some(&places.iter().map(|p| p.node).collect::<Vec<Id>>()[..]) {
            check::assignment_elsewhere(&target.at, &text(name), self.diags);
            return;
        }
        let kind = self.b.args()[self.params[param].arg.at()].kind;
        if let Some(new) = self.coerce(new, kind, &value.at) {
            self.params[param].stored = Some(new);
        }
    }

    /// The tensor parameter of that name.
    fn tensor(&mut self, name: &Ident) -> Option<usize> {
        match self.lookup(&text(name)) {
            Some(Binding::Param(param)) => match self.params[param].ast.kind {
                ParamKind::Tensor(_) => return Some(param),
                ParamKind::Unknown => {}
                ParamKind::Scalar(_) | ParamKind::Wide | ParamKind::Size | ParamKind::Key => {
                    check::index_of_scalar(name, self.diags);
                }
            },
            Some(Binding::Value(Some(_)) | Binding::Hidden) => check::index_of_scalar(name, self.diags),
            Some(Binding::Value(None)) => {}
            None => self.unknown_name(name),
        }
        None
    }

    /// The extents of a tensor that is indexed that many times.
    fn rank(&mut self, param: usize, name: &Ident, indices: usize, at: &At) -> Option<Vec<Extent>> {
        let extents = self.params[param].extents.clone()?;
        if extents.len() != indices {
            self.params[param].used = true;
            check::number_of_indices(at, &text(name), extents.len(), indices, self.diags);
            return None;
        }
        Some(extents)
    }

    fn indices(&mut self, indices: &[Expr]) -> Option<Vec<Index>> {
        let places: Vec<Option<Index>> = indices.iter().map(|e| self.index(e)).collect();
        places.into_iter().collect()
    }

    /// An index: an integer.
    fn index(&mut self, e: &Expr) -> Option<Index> {
        let node = self.scalar(e)?;
        if self.b.kind(node) != Kind::Int {
            check::not_an_index(&e.at, self.b.kind(node), self.diags);
            return None;
        }
        Some(Index { node, at: e.at })
    }
}

/// The tensor that is assigned to, and where.
fn target_of(target: &Expr) -> Option<(&Ident, &[Expr])> {
    use super::Node;
    match &target.node {
        Node::Index(name, indices) => Some((name, indices)),
        Node::Name(name) => Some((name, &[])),
        Node::Float(_)
        | Node::Int(_)
        | Node::Truth(_)
        | Node::Neg(_)
        | Node::Not(_)
        | Node::Binary(..)
        | Node::If(..)
        | Node::Cast(..)
        | Node::Call(..)
        | Node::Method(..)
        | Node::Tuple(_)
        | Node::Block(_)
        | Node::Closure(_)
        | Node::Range(..)
        | Node::Broken => None,
    }
}
