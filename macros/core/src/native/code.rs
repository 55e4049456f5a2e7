//! Nodes as Rust expressions.

use super::{Callees, Scalar, Slot};
use cotangent_ir::{Axis, Binary, Dim, Facts, Fold, Id, Kernel, Kind, Link, Node, Num, Unary};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::quote;
use std::collections::{BTreeMap, BTreeSet};

/// A kernel with what is known of its nodes.
pub(super) struct Kernels<'k> {
    pub(super) k: &'k Kernel,
    pub(super) facts: Facts,
    pub(super) callees: Callees<'k>,
    pub(super) slots: Slots,
    /// The dims that stand for any number of axes.
    pub(super) groups: &'k [Dim],
}

/// Where the arguments and outputs of a part of a program live.
#[derive(Clone)]
pub(super) struct Slots {
    pub(super) args: Vec<Slot>,
    pub(super) outs: Vec<Slot>,
}

impl Slots {
    /// Those of a program of one part.
    pub(super) fn of(k: &Kernel) -> Slots {
        let args = (0..k.args.len() as u32).map(Slot::In);
        Slots { args: args.collect(), outs: (0..k.outs.len() as u32).map(Slot::Out).collect() }
    }
}

impl<'k> Kernels<'k> {
    pub(super) fn new(k: &'k Kernel, callees: Callees<'k>) -> Self {
        Kernels::within(k, callees, Slots::of(k), &[])
    }

    /// A part of a program.
    pub(super) fn within(k: &'k Kernel, callees: Callees<'k>, slots: Slots, groups: &'k [Dim]) -> Self {
        Kernels { k, facts: Facts::of(k), callees, slots, groups }
    }

    /// Whether an extent stands for any number of axes, so that a row is no run along it.
    pub(super) fn is_group(&self, extent: Id) -> bool {
        matches!(self.k.nodes.get(extent.at()), Some(Node::Size(dim)) if self.groups.contains(dim))
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

    /// As [`plain_load`](Self::plain_load), except along one dim, where a position is given that no column varies: the
    /// axis along each of the others, that dim, and the position.
    pub(super) fn pick(&self, id: Id) -> Option<(Vec<Option<Axis>>, usize, Id)> {
        let Node::Load { arg, at, .. } = self.node(id) else { return None };
        let at: Vec<Id> = self.links(at);
        let axes: Vec<Option<Axis>> = at.iter().map(|id| self.bare(*id)).collect();
        let mut given = (0..axes.len()).filter(|dim| axes[*dim].is_none());
        let (dim, None) = (given.next()?, given.next()) else { return None };
        let distinct: BTreeSet<Axis> = axes.iter().flatten().copied().collect();
        let pairs = axes.iter().zip(self.k.args[arg.at()].dims.iter());
        let whole = pairs.clone().all(|(axis, dim)| axis.is_none_or(|axis| self.extent(axis) == *dim));
        (whole && distinct.len() + 1 == axes.len()).then(|| (axes, dim, at[dim]))
    }

    /// The axis along each dim of an argument, where a node reads all of it: each element once, at its own place.
    pub(super) fn plain_load(&self, id: Id) -> Option<Vec<Axis>> {
        let Node::Load { arg, at, guard: false } = self.node(id) else { return None };
        let axes = self.k.links(at).iter().map(|link| self.bare(link.id)).collect::<Option<Vec<Axis>>>()?;
        let distinct: BTreeSet<Axis> = axes.iter().copied().collect();
        let whole = axes.iter().zip(self.k.args[arg.at()].dims.iter()).all(|(axis, dim)| self.extent(*axis) == *dim);
        (whole && distinct.len() == axes.len()).then_some(axes)
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

/// The most factors of a product that is fused with an addition.
const FUSED: usize = 4;

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
            Node::Call { callee, out, args } => {
                let args: Vec<TokenStream> = self.links(args).into_iter().map(|id| self.operand(id)).collect();
                self.callees.call(self.k.callees[callee as usize], out, &args)
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
        let mut links = links.iter();
        // Of a product and something else the product is the one that is fused, wherever it stands.
        if let (None, [first, second, ..]) = (&code, links.as_slice())
            && let Some((a, b)) = self.two_factors(first.id).filter(|_| first.k.as_float() == 1.0)
            && self.two_factors(second.id).is_none()
            && second.k.as_float().abs() == 1.0
        {
            let (term, sign) = (self.operand(second.id), (second.k.as_float() < 0.0).then(|| quote!(-)));
            code = Some(quote!(math::fma::<FMA>(#a, #b, #sign #term)));
            links = links.as_slice()[2..].iter();
        }
        for link in links {
            let (k, term) = (link.k.as_float(), self.operand(link.id));
            let factors = self.two_factors(link.id).filter(|_| k.abs() == 1.0);
            code = Some(match (code, factors) {
                (None, _) if k == 1.0 => term,
                (None, _) if k == -1.0 => quote!(-#term),
                (None, _) => {
                    let k = constant(kind, link.k);
                    quote!(#k * #term)
                }
                (Some(code), Some((a, b))) if k == 1.0 => quote!(math::fma::<FMA>(#a, #b, #code)),
                (Some(code), Some((a, b))) => quote!(math::fma::<FMA>(-#a, #b, #code)),
                (Some(code), None) if k == 1.0 => quote!(#code + #term),
                (Some(code), None) if k == -1.0 => quote!(#code - #term),
                (Some(code), None) => {
                    let k = constant(kind, link.k);
                    quote!(math::fma::<FMA>(#k, #term, #code))
                }
            });
        }
        let code = code.unwrap_or_else(|| quote!(-0.0));
        quote!((#code))
    }

    /// A product of floats as one of two factors, which an addition can be fused with.
    fn two_factors(&self, id: Id) -> Option<(TokenStream, TokenStream)> {
        let Node::Prod { kind: Kind::Float, factors } = self.node(id) else { return None };
        let mut all = vec![];
        for link in self.k.links(factors) {
            let times = usize::try_from(link.k.as_int()).ok().filter(|times| (1..=FUSED).contains(times))?;
            all.extend(std::iter::repeat_n(self.operand(link.id), times));
        }
        let last = all.pop().filter(|_| all.len() < FUSED)?;
        let rest = all.into_iter().reduce(|a, b| quote!(#a * #b))?;
        Some((quote!((#rest)), last))
    }

    /// One step of a reduction: the partial result `s` and a value.
    pub(super) fn step(&self, fold: Fold, steps: &Steps, value: Id) -> TokenStream {
        match self.two_factors(value).filter(|_| fold == Fold::Sum) {
            Some((a, b)) => quote!(math::fma::<FMA>(#a, #b, s)),
            None => (steps.step)(quote!(s), self.operand(value)),
        }
    }

    /// The product of powers, a division by those that are negative.
    pub(super) fn product<'l>(&self, kind: Kind, factors: impl IntoIterator<Item = &'l Link>) -> TokenStream {
        let (mut above, mut below) = (None, None);
        for link in factors {
            let (power, factor) = (link.k.as_int(), self.operand(link.id));
            if power == -1 && self.is_sum_of_softmax(link.id) {
                // One division a row, as rustc moves it out of the loop.
                let inverse = quote!((1.0 / #factor));
                above = Some(above.map_or(inverse.clone(), |code| quote!(#code * #inverse)));
                continue;
            }
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

    /// Whether a node is the sum of `e^(x - m)` with the maximum `m` of all `x`: from 1 up to the number of elements, so that
    /// its inverse is a number without loss of digits.
    fn is_sum_of_softmax(&self, id: Id) -> bool {
        let Node::Fold(Fold::Sum, over, body) = self.node(id) else { return false };
        let Node::Unary(Unary::Exp, difference) = self.node(body) else { return false };
        let Node::Sum { c, terms, .. } = self.node(difference) else { return false };
        let &[x, m] = self.k.links(terms) else { return false };
        let Node::Fold(Fold::Max, of, largest) = self.node(m.id) else { return false };
        let signs = (x.k.as_float(), m.k.as_float(), c.as_float()) == (1.0, -1.0, 0.0);
        signs && largest == x.id && self.k.links(over) == self.k.links(of)
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
        Unary::Erfc => quote!(math::erfc::<FMA>(#x)),
        Unary::Erfinv => quote!((scalar::erfinv(f64::from(#x)) as Real)),
        Unary::Sigmoid => quote!(math::sigmoid::<FMA>(#x)),
        Unary::Rsqrt => quote!(math::rsqrt::<FMA>(#x)),
        Unary::Sin => quote!(math::sin::<FMA>(#x)),
        Unary::Cos => quote!(math::cos::<FMA>(#x)),
        Unary::Expm1 => quote!(math::expm1::<FMA>(#x)),
        Unary::Log1p => quote!(math::log1p::<FMA>(#x)),
        Unary::Tan => quote!(Real::tan(#x)),
        Unary::Asin => quote!(Real::asin(#x)),
        Unary::Acos => quote!(Real::acos(#x)),
        Unary::Atan => quote!(Real::atan(#x)),
        Unary::Sinh => quote!(math::sinh::<FMA>(#x)),
        Unary::Cosh => quote!(math::cosh::<FMA>(#x)),
        Unary::Asinh => quote!(math::asinh::<FMA>(#x)),
        Unary::Acosh => quote!(math::acosh::<FMA>(#x)),
        Unary::Atanh => quote!(math::atanh::<FMA>(#x)),
        Unary::Sqrt => quote!(Real::sqrt(#x)),
        Unary::Lgamma => quote!((scalar::lgamma(f64::from(#x)) as Real)),
        Unary::Digamma => quote!((scalar::digamma(f64::from(#x)) as Real)),
        Unary::Trigamma => quote!((scalar::trigamma(f64::from(#x)) as Real)),
        Unary::Abs if kind == Kind::Int => quote!(i64::wrapping_abs(#x)),
        Unary::Abs => quote!(Real::abs(#x)),
        Unary::Floor => quote!(Real::floor(#x)),
        Unary::Ceil => quote!(Real::ceil(#x)),
        Unary::Round => quote!(Real::round_ties_even(#x)),
        Unary::Trunc => quote!(Real::trunc(#x)),
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

/// The value of a load outside of its tensor.
pub(super) fn missing(k: &Kernels<'_>, load: Id) -> TokenStream {
    let guard = matches!(k.node(load), Node::Load { guard: true, .. });
    match k.kind(load) {
        Kind::Float if guard => quote!(0.0),
        Kind::Float => quote!(Real::NAN),
        Kind::Int => quote!(0i64),
        Kind::Bool => quote!(false),
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
