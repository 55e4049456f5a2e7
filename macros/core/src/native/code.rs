//! Nodes as Rust expressions.

use super::{Callees, Scalar};
use cotangent_ir::{Axis, Binary, Facts, Fold, Id, Kernel, Kind, Link, Node, Num, Unary};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::quote;
use std::collections::{BTreeMap, BTreeSet};

/// A kernel with what is known of its nodes.
pub(super) struct Kernels<'k> {
    pub(super) k: &'k Kernel,
    pub(super) facts: Facts,
    pub(super) callees: Callees<'k>,
}

impl<'k> Kernels<'k> {
    pub(super) fn new(k: &'k Kernel, callees: Callees<'k>) -> Self {
        Kernels { k, facts: Facts::of(k), callees }
    }

    pub(super) fn node(&self, id: Id) -> Node {
        self.k.nodes[id.at()]
    }

    pub(super) fn kind(&self, id: Id) -> Kind {
        self.facts.kinds[id.at()]
    }

    pub(super) fn free(&self, id: Id) -> &[Axis] {
        &self.facts.free[id.at()]
    }

    pub(super) fn extent(&self, axis: Axis) -> Id {
        self.k.axes[axis.at()].extent
    }

    pub(super) fn operands(&self, id: Id) -> Vec<Id> {
        let mut list = vec![];
        let node = self.node(id);
        node.operands(self.k.links_of(&node), &mut |id| list.push(id));
        list
    }

    pub(super) fn links(&self, run: cotangent_ir::Run) -> Vec<Id> {
        self.k.links(run).iter().map(|l| l.id).collect()
    }

    pub(super) fn bound(&self, run: cotangent_ir::Run) -> Vec<Axis> {
        Facts::bound(self.k, run)
    }

    /// What `roots` need, themselves included, without what lies behind nodes for which `stop` holds.
    pub(super) fn reach(&self, roots: &[Id], stop: impl Fn(Id) -> bool) -> BTreeSet<Id> {
        let (mut seen, mut open) = (BTreeSet::new(), roots.to_vec());
        while let Some(id) = open.pop() {
            if !stop(id) && seen.insert(id) {
                open.extend(self.operands(id));
            }
        }
        seen
    }

    /// The axis that a node is the position along, if it is one.
    pub(super) fn bare(&self, id: Id) -> Option<Axis> {
        match self.node(id) {
            Node::Index(axis) => Some(axis),
            _ => None,
        }
    }
}

/// How the leaves of expressions are written at one place of the code.
pub(super) struct Scope<'s> {
    /// Loads, by node.
    pub(super) loads: &'s dyn Fn(Id) -> TokenStream,
    /// Positions along axes, as `i64`.
    pub(super) index: &'s dyn Fn(Axis) -> TokenStream,
}

/// The local that holds a node.
pub(super) fn local(id: Id) -> Ident {
    Ident::new(&format!("v{}", id.0), Span::call_site())
}

/// The local that holds a scalar of the launch.
pub(super) fn scalar(of: Scalar) -> Ident {
    let name = match of {
        Scalar::Arg(a) => format!("p{a}"),
        Scalar::Size(d) => format!("d{d}"),
    };
    Ident::new(&name, Span::call_site())
}

/// Numbers that a kernel takes by value, and those of its nodes that hold one.
pub(crate) type Numbers = BTreeMap<u32, Kind>;

impl Kernels<'_> {
    /// A node as an operand: a constant as it is, anything else by its local.
    pub(super) fn operand(&self, id: Id) -> TokenStream {
        match self.node(id) {
            Node::Const(kind, value) => constant(kind, value),
            Node::Size(dim) => {
                let name = scalar(Scalar::Size(dim.0));
                quote!(#name)
            }
            _ => {
                let name = local(id);
                quote!(#name)
            }
        }
    }

    /// Whether a node is written where it is used.
    pub(super) fn inline(&self, id: Id) -> bool {
        matches!(self.node(id), Node::Const(..) | Node::Size(_))
    }

    /// The code of a node; folds and scans are written elsewhere.
    pub(super) fn expression(&self, id: Id, scope: &Scope<'_>) -> TokenStream {
        let kind = self.kind(id);
        match self.node(id) {
            Node::Const(..) | Node::Size(_) => self.operand(id),
            Node::Index(axis) => (scope.index)(axis),
            Node::Load { .. } => (scope.loads)(id),
            Node::Sum { c, terms, .. } => self.sum(kind, c, terms),
            Node::Prod { factors, .. } => self.product(kind, self.k.links(factors)),
            Node::Unary(op, a) => unary(op, self.kind(a), self.operand(a)),
            Node::Binary(op, a, b) => binary(op, self.kind(a), self.operand(a), self.operand(b)),
            Node::Select(q, a, b) => {
                let (q, a, b) = (self.operand(q), self.operand(a), self.operand(b));
                quote!(if #q { #a } else { #b })
            }
            Node::Cast(to, a) => cast(self.kind(a), to, self.operand(a)),
            Node::Random { key, at } => {
                let (key, at) = (self.operand(key), self.operand(at));
                quote!(scalar::word(#key, #at))
            }
            Node::Call { callee, args, .. } => {
                let args: Vec<TokenStream> = self.links(args).into_iter().map(|id| self.operand(id)).collect();
                self.callees.call(self.k.callees[callee as usize], &args)
            }
            Node::Fold(..) | Node::Scan { .. } => {
                let name = local(id);
                quote!(#name)
            }
        }
    }

    fn sum(&self, kind: Kind, c: Num, terms: cotangent_ir::Run) -> TokenStream {
        let links = self.k.links(terms);
        if kind == Kind::Int {
            let mut code = (c.as_int() != 0).then(|| constant(kind, c));
            for link in links {
                let (k, term) = (link.k.as_int(), self.operand(link.id));
                code = Some(match (code, k) {
                    (None, 1) => term,
                    (None, k) => {
                        let k = constant(kind, Num::int(k));
                        quote!(i64::wrapping_mul(#k, #term))
                    }
                    (Some(code), 1) => quote!(i64::wrapping_add(#code, #term)),
                    (Some(code), -1) => quote!(i64::wrapping_sub(#code, #term)),
                    (Some(code), k) => {
                        let k = constant(kind, Num::int(k));
                        quote!(i64::wrapping_add(#code, i64::wrapping_mul(#k, #term)))
                    }
                });
            }
            return code.unwrap_or_else(|| quote!(0i64));
        }
        let mut code = (c != Num::NO_FLOAT).then(|| constant(kind, c));
        for link in links {
            let (k, term) = (link.k.as_float(), self.operand(link.id));
            code = Some(match code {
                None if k == 1.0 => term,
                None if k == -1.0 => quote!(-#term),
                None => {
                    let k = constant(kind, link.k);
                    quote!(#k * #term)
                }
                Some(code) if k == 1.0 => quote!(#code + #term),
                Some(code) if k == -1.0 => quote!(#code - #term),
                Some(code) => {
                    let k = constant(kind, link.k);
                    quote!(math::fma::<FMA>(#k, #term, #code))
                }
            });
        }
        let code = code.unwrap_or_else(|| quote!(-0.0));
        quote!((#code))
    }

    /// The product of powers, a division by those that are negative.
    pub(super) fn product<'l>(&self, kind: Kind, factors: impl IntoIterator<Item = &'l Link>) -> TokenStream {
        let (mut above, mut below) = (None, None);
        for link in factors {
            let (power, factor) = (link.k.as_int(), self.operand(link.id));
            let side = if power > 0 { &mut above } else { &mut below };
            let times = power.unsigned_abs();
            let whole = match (kind, times) {
                (_, 1) => factor,
                (Kind::Int, n) => {
                    let n = Literal::u32_suffixed(u32::try_from(n).unwrap_or(u32::MAX));
                    quote!(i64::wrapping_pow(#factor, #n))
                }
                (_, 2..=4) => {
                    let rest = std::iter::repeat_n(&factor, times as usize - 1);
                    quote!((#factor #(* #rest)*))
                }
                (_, n) => {
                    let n = Literal::i32_suffixed(i32::try_from(n).unwrap_or(i32::MAX));
                    quote!(#factor.powi(#n))
                }
            };
            *side = Some(match (side.take(), kind) {
                (None, _) => whole,
                (Some(code), Kind::Int) => quote!(i64::wrapping_mul(#code, #whole)),
                (Some(code), _) => quote!(#code * #whole),
            });
        }
        match (above, below) {
            (Some(above), None) => quote!((#above)),
            (Some(above), Some(below)) => quote!((#above / (#below))),
            (None, Some(below)) => quote!((1.0 / (#below))),
            (None, None) => quote!(1.0),
        }
    }
}

/// A constant, exact where the tile's floats can hold it.
pub(super) fn constant(kind: Kind, value: Num) -> TokenStream {
    match kind {
        Kind::Bool => {
            let value = value.as_bool();
            quote!(#value)
        }
        Kind::Int => {
            let (value, text) = (value.as_int(), Literal::i64_suffixed(value.as_int().wrapping_abs()));
            match value {
                i64::MIN => quote!(i64::MIN),
                0.. => quote!(#text),
                _ => quote!((-#text)),
            }
        }
        Kind::Float => float(value.as_float()),
    }
}

fn float(value: f64) -> TokenStream {
    if value.is_nan() {
        return quote!(Real::NAN);
    }
    let size = value.abs();
    let code = if size == f64::INFINITY {
        quote!(Real::INFINITY)
    } else if size > f64::from(f32::MAX) || (size != 0.0 && size < f64::from(f32::MIN_POSITIVE)) {
        // Out of the range of `f32` literals, or rounded twice there: the cast rounds once.
        let text = Literal::f64_suffixed(size);
        quote!((#text as Real))
    } else {
        let text = Literal::f64_unsuffixed(size);
        quote!(#text)
    };
    if value.is_sign_negative() { quote!((-#code)) } else { code }
}

fn unary(op: Unary, kind: Kind, x: TokenStream) -> TokenStream {
    match op {
        Unary::Exp => quote!(math::exp::<FMA>(#x)),
        Unary::Log => quote!(math::log::<FMA>(#x)),
        Unary::Tanh => quote!(math::tanh::<FMA>(#x)),
        Unary::Erf => quote!(math::erf::<FMA>(#x)),
        Unary::Sigmoid => quote!(math::sigmoid::<FMA>(#x)),
        Unary::Rsqrt => quote!(math::rsqrt::<FMA>(#x)),
        Unary::Sin => quote!(math::sin::<FMA>(#x)),
        Unary::Cos => quote!(math::cos::<FMA>(#x)),
        Unary::Expm1 => quote!(#x.exp_m1()),
        Unary::Log1p => quote!(#x.ln_1p()),
        Unary::Tan => quote!(#x.tan()),
        Unary::Asin => quote!(#x.asin()),
        Unary::Acos => quote!(#x.acos()),
        Unary::Atan => quote!(#x.atan()),
        Unary::Sinh => quote!(#x.sinh()),
        Unary::Cosh => quote!(#x.cosh()),
        Unary::Asinh => quote!(#x.asinh()),
        Unary::Acosh => quote!(#x.acosh()),
        Unary::Atanh => quote!(#x.atanh()),
        Unary::Sqrt => quote!(#x.sqrt()),
        Unary::Lgamma => quote!((scalar::lgamma(f64::from(#x)) as Real)),
        Unary::Digamma => quote!((scalar::digamma(f64::from(#x)) as Real)),
        Unary::Abs if kind == Kind::Int => quote!(i64::wrapping_abs(#x)),
        Unary::Abs => quote!(#x.abs()),
        Unary::Floor => quote!(#x.floor()),
        Unary::Ceil => quote!(#x.ceil()),
        Unary::Round => quote!(#x.round_ties_even()),
        Unary::Trunc => quote!(#x.trunc()),
        Unary::Not => quote!((!#x)),
        Unary::Detach => x,
    }
}

fn binary(op: Binary, kind: Kind, a: TokenStream, b: TokenStream) -> TokenStream {
    match op {
        Binary::Max if kind == Kind::Bool => quote!((#a | #b)),
        Binary::Min if kind == Kind::Bool => quote!((#a & #b)),
        Binary::Max => quote!(scalar::maximum(#a, #b)),
        Binary::Min => quote!(scalar::minimum(#a, #b)),
        Binary::Pow => quote!(Real::powf(#a, #b)),
        Binary::Atan2 => quote!(Real::atan2(#a, #b)),
        Binary::Rem if kind == Kind::Int => quote!(scalar::int_remainder(#a, #b)),
        Binary::Rem => quote!(scalar::remainder(#a, #b)),
        Binary::Quot => quote!(scalar::int_quotient(#a, #b)),
        Binary::Eq => quote!((#a == #b)),
        Binary::Lt => quote!((#a < #b)),
        Binary::Le => quote!((#a <= #b)),
        Binary::And => quote!((#a & #b)),
        Binary::Or => quote!((#a | #b)),
        Binary::Xor => quote!((#a ^ #b)),
        Binary::Shl => quote!(scalar::shift_left(#a, #b)),
        Binary::Shr => quote!(scalar::shift_right(#a, #b)),
    }
}

fn cast(from: Kind, to: Kind, x: TokenStream) -> TokenStream {
    match (from, to) {
        (Kind::Float, Kind::Float) | (Kind::Int, Kind::Int) | (Kind::Bool, Kind::Bool) => x,
        (Kind::Float, Kind::Int) => quote!((#x as i64)),
        (Kind::Int, Kind::Float) => quote!((#x as Real)),
        (Kind::Bool, Kind::Int) => quote!(i64::from(#x)),
        (Kind::Bool, Kind::Float) => quote!((u8::from(#x) as Real)),
        (Kind::Float, Kind::Bool) => quote!((#x != 0.0)),
        (Kind::Int, Kind::Bool) => quote!((#x != 0)),
    }
}

/// The value that a reduction starts from, one step of it, and how two parts of it join.
pub(super) struct Steps {
    pub(super) start: TokenStream,
    pub(super) step: fn(TokenStream, TokenStream) -> TokenStream,
}

/// How a reduction over values of a kind goes; `None` for one that gives a position.
pub(super) fn steps(fold: Fold, kind: Kind) -> Option<Steps> {
    let steps = |start, step| Some(Steps { start, step });
    match (fold, kind) {
        (Fold::Sum, Kind::Float) => steps(quote!(0.0), |a, b| quote!(#a + #b)),
        (Fold::Sum, _) => steps(quote!(0i64), |a, b| quote!(i64::wrapping_add(#a, #b))),
        (Fold::Prod, Kind::Float) => steps(quote!(1.0), |a, b| quote!(#a * #b)),
        (Fold::Prod, _) => steps(quote!(1i64), |a, b| quote!(i64::wrapping_mul(#a, #b))),
        (Fold::Max, Kind::Float) => steps(quote!(Real::NEG_INFINITY), |a, b| quote!(scalar::maximum(#a, #b))),
        (Fold::Max, Kind::Int) => steps(quote!(i64::MIN), |a, b| quote!(scalar::maximum(#a, #b))),
        (Fold::Max, Kind::Bool) => steps(quote!(false), |a, b| quote!(#a | #b)),
        (Fold::Min, Kind::Float) => steps(quote!(Real::INFINITY), |a, b| quote!(scalar::minimum(#a, #b))),
        (Fold::Min, Kind::Int) => steps(quote!(i64::MAX), |a, b| quote!(scalar::minimum(#a, #b))),
        (Fold::Min, Kind::Bool) => steps(quote!(true), |a, b| quote!(#a & #b)),
        (Fold::ArgMax | Fold::ArgMin, _) => None,
    }
}
