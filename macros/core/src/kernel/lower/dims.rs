//! Declared dims: from `Tensor![R.., N - K + 1]` to extents, and whether the shapes at hand determine every name.

use super::super::ast::{At, Kernel, Param, text};
use super::super::bounds::{Quotients, Range};
use super::super::check::dims as check;
use super::super::poly::{Atom, Poly};
use super::Lower;
use crate::dims::{DimExpr, TensorType};
use cotangent_ir::{Dim, Id};
use proc_macro2::{Ident, TokenStream};
use std::collections::BTreeSet;

/// One extent.
#[derive(Clone)]
pub(super) struct Extent {
    /// Equal extents are one node.
    pub(super) node: Id,
    /// In the user's names.
    pub(super) written: String,
}

/// The names of dims.
#[derive(Default)]
pub(super) struct Dims {
    names: Vec<Name>,
    /// The quotients in declared dims, which leave no remainder.
    pub(super) quotients: Quotients,
}

struct Name {
    /// As the user wrote it, a constant with its braces.
    text: String,
    dim: Dim,
    /// Whether it stands for leading axes.
    group: bool,
    /// The tokens of a constant.
    constant: Option<TokenStream>,
}

impl Dims {
    /// The dim of that name.
    pub(super) fn get(&self, name: &str) -> Option<Dim> {
        self.names.iter().find(|n| n.text == name).map(|n| n.dim)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().filter(|n| n.constant.is_none()).map(|n| n.text.as_str())
    }

    /// The dims that are constants, and what rustc evaluates for them.
    pub(super) fn constants(&self) -> Vec<(Dim, TokenStream)> {
        self.names.iter().filter_map(|n| Some((n.dim, n.constant.clone()?))).collect()
    }

    /// A polynomial of dims in the user's names.
    pub(super) fn written(&self, poly: &Poly) -> String {
        let name = |atom: &Atom| match atom {
            Atom::Dim(dim) => self.names.get(dim.at()).map_or_else(|| "_".to_owned(), |n| n.text.clone()),
            Atom::Axis(_) | Atom::Quot(..) | Atom::Rem(..) | Atom::Other(_) => "_".to_owned(),
        };
        poly.written(&name)
    }

    /// What an index does, in the user's names: it is one number, or runs over a range.
    pub(super) fn written_range(&self, range: &Range) -> String {
        if range.first == range.last {
            return format!("is `{}`", self.written(&range.first));
        }
        match range.last.plus(1, &Poly::constant(1)) {
            Some(end) => format!("runs over `{}..{}`", self.written(&range.first), self.written(&end)),
            None => format!("runs over `{}..={}`", self.written(&range.first), self.written(&range.last)),
        }
    }
}

impl Lower<'_> {
    /// Declares the dims of a parameter.
    pub(super) fn declare_dims(&mut self, shape: &TensorType, at: &At) {
        match &shape.rest {
            Some(Some(name)) => self.declare_dim(name, true),
            Some(None) => check::nameless_group(at, self.diags),
            None => {}
        }
        shape.dims.iter().flat_map(DimExpr::names).for_each(|name| self.declare_dim(name, false));
    }

    fn declare_dim(&mut self, name: &Ident, group: bool) {
        let text = text(name);
        match self.dims.names.iter().find(|n| n.text == text) {
            Some(known) if known.group != group => check::group_and_dim(name, self.diags),
            Some(_) => {}
            None => {
                if !text.starts_with(char::is_uppercase) {
                    check::dim_in_lower_case(name, self.diags);
                }
                let dim = self.b.dim(&text);
                self.dims.names.push(Name { text, dim, group, constant: None });
            }
        }
    }

    /// Declares the constants in a shape, each as a dim of a name of its own, when all other names are known.
    pub(super) fn declare_constants(&mut self, shape: &TensorType, taken: &[String]) {
        for tokens in shape.dims.iter().flat_map(DimExpr::constants) {
            let text = constant(tokens);
            if self.dims.get(&text).is_some() {
                continue;
            }
            let word = tokens.to_string();
            let word = if syn::parse_str::<Ident>(&word).is_ok() { word } else { "CONST".to_owned() };
            let names = self.b.dims().iter().map(|name| name.to_string()).chain(taken.iter().cloned());
            let known: BTreeSet<String> = names.collect();
            let mut names = std::iter::once(word.clone()).chain((2..).map(|n| format!("{word}_{n}")));
            let Some(name) = names.find(|name| !known.contains(name)) else { continue };
            let dim = self.b.dim(&name);
            self.dims.names.push(Name { text, dim, group: false, constant: Some(tokens.clone()) });
        }
    }

    /// The extents of a shape; nothing where one was reported.
    pub(super) fn extents(&mut self, shape: &TensorType, at: &At) -> Option<Vec<Extent>> {
        let mut extents = vec![];
        match &shape.rest {
            Some(Some(name)) => {
                let dim = self.dims.get(&text(name));
                let node = dim.map(|dim| self.b.size(dim));
                extents.push(node.map(|node| Extent { node, written: format!("{name}..") }));
            }
            Some(None) => extents.push(None),
            None => {}
        }
        for dim in &shape.dims {
            let poly = self.poly(dim, &place(dim).unwrap_or(*at));
            if let Some(poly) = &poly {
                self.dims.quotients.learn(poly);
            }
            extents.push(poly.map(|poly| Extent { node: poly.node(&mut self.b), written: self.dims.written(&poly) }));
        }
        extents.into_iter().collect()
    }

    /// A dim as a polynomial; nothing where it was reported.
    fn poly(&mut self, e: &DimExpr, at: &At) -> Option<Poly> {
        match poly(e, &self.dims) {
            Ok(poly) => match poly.as_const().filter(|&value| value < 0) {
                None => return Some(poly),
                Some(value) => check::negative_dim(at, value, self.diags),
            },
            // A name that no parameter has is reported by `unbound_dims`.
            Err(Fault::Unknown) => {}
            Err(Fault::Zero) => check::dim_over_zero(at, self.diags),
            Err(Fault::Large) => check::large_dim(at, self.diags),
        }
        None
    }

    /// Reports the dims that no shape determines, each once.
    pub(super) fn unbound_dims(&mut self, ast: &Kernel) {
        let unbound = self.unbound(ast.params.iter());
        let mut reported = BTreeSet::new();
        for dim in ast.params.iter().filter_map(Param::shape).flat_map(|t| &t.dims) {
            // Of several that one dim leaves open, one must be known for the others to be: the first is reported.
            let names: Vec<&Ident> = dim.names().into_iter().filter(|name| unbound.contains(&text(name))).collect();
            if let Some(name) = names.iter().find(|name| !reported.contains(&text(name))) {
                check::unbound_dim(name, self.diags);
            }
            reported.extend(names.into_iter().map(text));
        }
        for out in ast.outs.iter().filter_map(|out| out.shape.as_ref()) {
            for name in out.names() {
                if self.dims.get(&text(name)).is_none() && reported.insert(text(name)) {
                    let known: Vec<&str> = self.dims.names().collect();
                    check::unbound_result_dim(name, &known, self.diags);
                }
            }
            let group = out.rest.iter().flatten().map(|name| (name, true));
            for (name, group) in group.chain(out.dims.iter().flat_map(DimExpr::names).map(|name| (name, false))) {
                if self.dims.names.iter().any(|n| n.text == text(name) && n.group != group) {
                    check::group_and_dim(name, self.diags);
                }
            }
        }
    }

    /// The dims that the shapes of these parameters do not determine: the same rounds as a launch makes.
    pub(super) fn unbound<'p>(&mut self, params: impl Iterator<Item = &'p Param>) -> BTreeSet<String> {
        let shapes: Vec<&TensorType> = params.filter_map(Param::shape).collect();
        let mut unknown: BTreeSet<Dim> =
            self.dims.names.iter().filter(|n| n.constant.is_none()).map(|n| n.dim).collect();
        for name in shapes.iter().filter_map(|t| t.rest.as_ref()?.as_ref()) {
            self.dims.get(&text(name)).map(|dim| unknown.remove(&dim));
        }
        let mut polys = vec![];
        for dim in shapes.iter().flat_map(|t| &t.dims) {
            match poly(dim, &self.dims) {
                Ok(poly) => polys.push(poly),
                // It is reported as it stands.
                Err(_) => dim.names().into_iter().filter_map(|name| self.dims.get(&text(name))).for_each(|dim| {
                    unknown.remove(&dim);
                }),
            }
        }
        while let Some(dim) = polys.iter().find_map(|poly| determined(poly, &unknown)) {
            unknown.remove(&dim);
        }
        let unbound = self.dims.names.iter().filter(|n| unknown.contains(&n.dim));
        unbound.map(|n| n.text.clone()).collect()
    }
}

/// Where a dim stands: from its first to its last number or name.
fn place(e: &DimExpr) -> Option<At> {
    match e {
        DimExpr::Lit(_, span) => Some(At::from(*span)),
        DimExpr::Name(name) => Some(At::from(name.span())),
        DimExpr::Const(tokens) => (!tokens.is_empty()).then(|| At::of(tokens)),
        DimExpr::Add(a, b) | DimExpr::Sub(a, b) | DimExpr::Mul(a, b) | DimExpr::Div(a, b) | DimExpr::Floor(a, b) => {
            Some(At { first: place(a)?.first, last: place(b)?.last })
        }
    }
}

/// A constant as the user wrote it.
fn constant(tokens: &TokenStream) -> String {
    format!("{{{tokens}}}")
}

/// Why a dim is no polynomial.
enum Fault {
    /// It names a dim that no parameter has.
    Unknown,
    /// It divides by 0.
    Zero,
    /// It gets too large.
    Large,
}

/// A dim as a polynomial.
fn poly(e: &DimExpr, dims: &Dims) -> Result<Poly, Fault> {
    let poly = match e {
        DimExpr::Lit(value, _) => Some(Poly::constant(*value)),
        DimExpr::Name(name) => {
            let dim = dims.get(&text(name)).ok_or(Fault::Unknown)?;
            Some(Poly::atom(Atom::Dim(dim)))
        }
        DimExpr::Const(tokens) => {
            let dim = dims.get(&constant(tokens)).ok_or(Fault::Unknown)?;
            Some(Poly::atom(Atom::Dim(dim)))
        }
        DimExpr::Add(a, b) => poly(a, dims)?.plus(1, &poly(b, dims)?),
        DimExpr::Sub(a, b) => poly(a, dims)?.plus(-1, &poly(b, dims)?),
        DimExpr::Mul(a, b) => poly(a, dims)?.times(&poly(b, dims)?),
        DimExpr::Div(a, b) | DimExpr::Floor(a, b) => {
            let (a, b) = (poly(a, dims)?, poly(b, dims)?);
            if b.as_const() == Some(0) {
                return Err(Fault::Zero);
            }
            a.quotient(&b)
        }
    };
    poly.ok_or(Fault::Large)
}

/// The one unknown dim of an extent, where it is a factor of one term alone.
fn determined(poly: &Poly, unknown: &BTreeSet<Dim>) -> Option<Dim> {
    let is_unknown = |atom: &&Atom| matches!(atom, Atom::Dim(dim) if unknown.contains(dim));
    let mut found = poly.atoms().filter(is_unknown);
    let inner = poly.atoms().filter(|atom| !matches!(atom, Atom::Dim(_))).any(|atom| mentions(atom, unknown));
    match (found.next(), found.next(), inner) {
        (Some(&Atom::Dim(dim)), None, false) => Some(dim),
        (_, _, _) => None,
    }
}

/// Whether an atom is over one of these dims.
fn mentions(atom: &Atom, dims: &BTreeSet<Dim>) -> bool {
    match atom {
        Atom::Dim(dim) => dims.contains(dim),
        Atom::Quot(p, q) | Atom::Rem(p, q) => p.atoms().chain(q.atoms()).any(|atom| mentions(atom, dims)),
        Atom::Axis(_) | Atom::Other(_) => false,
    }
}
