//! The simplifier of derivatives: a builder whose float sums, products and reductions cancel.
//!
//! The primal keeps the user's order of operations; only cotangents are built here. A primal node is opened when
//! something cancels and never otherwise. With these rules the derivatives of softmax, the norms and cross-entropy come
//! out in the form that one writes by hand. Each rule is one function, named in its doc by the letter that tests and
//! notes use:
//!
//! - (a) open sums and products that cancel: `open_sums`, `open_products`
//! - (b) take out what all terms share: `factor_common`
//! - (c) use products of the primal: `use_primal_products`
//! - (d) take factors out of a sum over axes: `pull_out`
//! - (e) distribute a sum over axes where everything or a part cancels: `speculate`
//! - (f) late: `exp(a) / s` is `exp(a - log s)`: `exp_of_difference`
//! - (g) late: Horner's form: `horner`
//! - (h) a sum against a one-hot is a load: `one_hot`
//! - (i) integer sums are always opened: [`Builder::affine`]
//! - (j) substitution renames bound axes: `rewrite::subst`
//! - (k) late: a product with `select(q, a, 0)` is a select: `select_outermost`

mod fold;
mod product;
mod sum;
#[cfg(test)]
mod tests;

use crate::build::Builder;
use crate::kernel::{Fold, Id, Kind, Node};
use crate::rewrite::{Remake, replace};
use crate::vjp::Partials;
use std::collections::HashMap;

/// Builds derivatives over the primal nodes of a builder.
pub(crate) struct Simplifier {
    pub(crate) b: Builder,
    /// Nodes below are the primal's.
    pub(crate) frozen: Id,
    /// The partial derivatives of the kernels that are called, where calls stand as they are.
    pub(crate) partials: Option<Partials>,
    /// Copies of primal nodes under other names of axes or with values that are read back. They too keep the order of
    /// operations: a comparison that is computed again must fall as it did in the forward.
    copies: Vec<bool>,
    /// Whether what is built again stays as it stands.
    exact: bool,
    /// The primal's float products by their last factor, for rule (c).
    products: HashMap<Id, Vec<Id>>,
    /// Whether the rules apply that hide what earlier ones look for.
    late: bool,
    /// How many speculations (rule (e)) are under way.
    speculations: u32,
    /// How many more sums the outermost speculation may try.
    budget: usize,
    /// How many selections are being brought outside (rule (k)).
    selects: u32,
}

impl Simplifier {
    pub(crate) fn new(b: Builder) -> Simplifier {
        let frozen = Id(b.len());
        let mut products = HashMap::<Id, Vec<Id>>::new();
        for id in (0..b.len()).map(Id) {
            if let Node::Prod { kind: Kind::Float, factors } = b.node(id)
                && let Some(last) = b.links(factors).iter().map(|l| l.id).max()
            {
                products.entry(last).or_default().push(id);
            }
        }
        Simplifier {
            b,
            frozen,
            partials: None,
            copies: vec![],
            exact: false,
            products,
            late: false,
            speculations: 0,
            budget: 0,
            selects: 0,
        }
    }

    pub(crate) fn is_primal(&self, id: Id) -> bool {
        id < self.frozen || self.copies.get(id.at()) == Some(&true)
    }

    /// Builds an expression again with the late rules, leaving primal nodes alone.
    pub(crate) fn polish(&mut self, id: Id) -> Id {
        let (frozen, copies) = (self.frozen, self.copies.clone());
        let before = std::mem::replace(&mut self.late, true);
        let id = replace(self, id, &HashMap::new(), &|id| id < frozen || copies.get(id.at()) == Some(&true));
        self.late = before;
        id
    }

    /// Replaces nodes of an expression that is in its final form.
    pub(crate) fn replace_exactly(&mut self, id: Id, map: &HashMap<Id, Id>) -> Id {
        self.exact = true;
        let id = replace(self, id, map, &|_| false);
        self.exact = false;
        id
    }

    pub(crate) fn zero(&mut self) -> Id {
        self.b.float(0.0)
    }

    pub(crate) fn is_zero(&self, id: Id) -> bool {
        self.b.as_float(id) == Some(0.0)
    }

    /// A float node as a coefficient and the rest; no rest for a constant.
    fn coefficient(&self, id: Id) -> (f64, Option<Id>) {
        match (self.b.as_float(id), self.b.scaled(id)) {
            (Some(k), _) => (k, None),
            (None, Some((k, id))) => (k, Some(id)),
            (None, None) => (1.0, Some(id)),
        }
    }

    /// The factors of a float product; any other node is its own only factor.
    fn factors(&self, id: Id) -> Vec<(Id, i64)> {
        if let Node::Prod { kind: Kind::Float, factors } = self.b.node(id) {
            return self.b.links(factors).iter().map(|l| (l.id, l.k.as_int())).collect();
        }
        vec![(id, 1)]
    }

    /// The constant and the terms of a float sum.
    fn terms(&self, id: Id) -> Option<(f64, Vec<(f64, Id)>)> {
        if let Node::Sum { kind: Kind::Float, c, terms } = self.b.node(id) {
            let terms = self.b.links(terms).iter().map(|l| (l.k.as_float(), l.id)).collect();
            return Some((c.as_float(), terms));
        }
        None
    }

    pub(crate) fn add(&mut self, a: Id, b: Id) -> Id {
        self.sum(0.0, &[(1.0, a), (1.0, b)])
    }

    pub(crate) fn scale(&mut self, k: f64, a: Id) -> Id {
        self.sum(0.0, &[(k, a)])
    }

    pub(crate) fn mul(&mut self, a: Id, b: Id) -> Id {
        self.product(&[(a, 1), (b, 1)])
    }

    pub(crate) fn div(&mut self, a: Id, b: Id) -> Id {
        self.product(&[(a, 1), (b, -1)])
    }
}

impl Remake for Simplifier {
    fn builder(&mut self) -> &mut Builder {
        &mut self.b
    }

    fn remake(&mut self, old: Id, node: Node) -> Id {
        let primal = self.is_primal(old);
        if primal || self.exact {
            let id = self.b.remake(old, node);
            if primal {
                let len = self.copies.len().max(id.at() + 1);
                self.copies.resize(len, false);
                self.copies[id.at()] = true;
            }
            return id;
        }
        if let Node::Sum { kind: Kind::Float, c, terms } = node {
            let terms: Vec<(f64, Id)> = self.b.links(terms).iter().map(|l| (l.k.as_float(), l.id)).collect();
            self.sum(c.as_float(), &terms)
        } else if let Node::Prod { kind: Kind::Float, factors } = node {
            let factors: Vec<(Id, i64)> = self.b.links(factors).iter().map(|l| (l.id, l.k.as_int())).collect();
            self.product(&factors)
        } else if let Node::Fold(Fold::Sum, axes, body) = node {
            let axes = self.b.bound(axes);
            self.fold_sum(&axes, body)
        } else {
            self.b.remake(old, node)
        }
    }
}
