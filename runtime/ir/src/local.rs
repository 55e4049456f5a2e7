//! The table of local derivatives.
//!
//! A node depends on each operand by a linear map of small changes: at a point it multiplies by the partial derivative.
//! Both modes read the same table. Forward mode gives it the tangent of the operand, reverse mode the cotangent of the
//! node; sums over axes are theirs.

use crate::kernel::{Axis, Binary, Fold, Id, Kind, Node, Unary};
use crate::rules::Simplifier;
use std::f64::consts::FRAC_2_SQRT_PI;

/// What has no derivative rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Underivable {
    /// A running product, maximum or minimum.
    Scan(Fold),
    /// The trigamma function.
    Trigamma,
    /// A call of a kernel whose partial derivatives are not known.
    Call,
}

/// Whether small changes of an operand reach the node at all: not through whole numbers, truth values, steps and
/// `detach`.
pub(crate) fn passes(node: &Node, operand: usize) -> bool {
    match *node {
        Node::Sum { kind, .. } | Node::Prod { kind, .. } | Node::Cast(kind, _) => kind == Kind::Float,
        Node::Unary(op, _) => {
            !matches!(op, Unary::Detach | Unary::Floor | Unary::Ceil | Unary::Round | Unary::Trunc | Unary::Not)
        }
        Node::Binary(op, _, _) => {
            matches!(op, Binary::Max | Binary::Min | Binary::Pow | Binary::Atan2 | Binary::Rem)
        }
        Node::Select(..) => operand > 0,
        Node::Fold(fold, _, _) => !matches!(fold, Fold::ArgMax | Fold::ArgMin),
        Node::Scan { .. } => true,
        // Of a load the place, of a random word both operands are integers.
        Node::Const(..) | Node::Size(_) | Node::Index(_) | Node::Load { .. } | Node::Random { .. } => false,
        // Of a call that stands as it is all operands are floats.
        Node::Call { .. } => true,
    }
}

/// `k * e`: the partial derivative of node `v` by an operand, times `c`.
///
/// `c` is the node's cotangent, a function of its free axes, or the operand's tangent. For a reduction the result varies
/// along its axes too: forward mode sums over them.
///
/// # Errors
/// What has no rule.
pub(crate) fn partial(s: &mut Simplifier, v: Id, operand: usize, c: Id) -> Result<(f64, Id), Underivable> {
    Ok(match s.b.node(v) {
        Node::Sum { terms, .. } => (s.b.links(terms)[operand].k.as_float(), c),
        Node::Prod { factors, .. } => {
            let mut parts: Vec<(Id, i64)> = s.b.links(factors).iter().map(|l| (l.id, l.k.as_int())).collect();
            let (factor, power) = parts[operand];
            if power > 0 {
                // The product of the others, not `v / factor`: the factor may be 0.
                parts[operand].1 -= 1;
            } else {
                // The node stays whole: for a quotient this gives `-c * v / b`.
                parts = vec![(v, 1), (factor, -1)];
            }
            parts.insert(0, (c, 1));
            (power as f64, s.product(&parts))
        }
        Node::Unary(op, a) => unary(s, op, v, a, c)?,
        Node::Binary(op, a, b) => (1.0, binary(s, op, v, (a, b), operand, c)),
        Node::Select(q, _, _) => {
            let zero = s.zero();
            (1.0, if operand == 1 { s.b.select(q, c, zero) } else { s.b.select(q, zero, c) })
        }
        Node::Fold(fold, axes, body) => {
            let axes = s.b.bound(axes);
            (1.0, reduction(s, fold, &axes, body, v, c))
        }
        Node::Scan { fold: Fold::Sum, .. } => (1.0, c),
        Node::Scan { fold, .. } => return Err(Underivable::Scan(fold)),
        Node::Cast(..) => (1.0, c),
        Node::Call { callee, out, args } => {
            let kernel = s.b.called(callee);
            let of =
                s.partials.and_then(|partials| partials(kernel, out as usize, operand)).ok_or(Underivable::Call)?;
            let args: Vec<Id> = s.b.links(args).iter().map(|l| l.id).collect();
            let of = s.b.callee(of);
            let slope = s.b.call(of, 0, &args);
            (1.0, s.mul(c, slope))
        }
        Node::Const(..) | Node::Size(_) | Node::Index(_) | Node::Load { .. } | Node::Random { .. } => (0.0, c),
    })
}

fn unary(s: &mut Simplifier, op: Unary, v: Id, a: Id, c: Id) -> Result<(f64, Id), Underivable> {
    // `1 + k * x^2`
    let quadratic = |s: &mut Simplifier, one: f64, k: f64, x: Id| {
        let square = s.product(&[(x, 2)]);
        s.sum(one, &[(k, square)])
    };
    Ok(match op {
        Unary::Exp => (1.0, s.mul(c, v)),
        Unary::Expm1 => {
            let exp = s.sum(1.0, &[(1.0, v)]);
            (1.0, s.mul(c, exp))
        }
        Unary::Log => (1.0, s.div(c, a)),
        Unary::Log1p => {
            let one = s.sum(1.0, &[(1.0, a)]);
            (1.0, s.div(c, one))
        }
        Unary::Sin => {
            let cos = s.b.unary(Unary::Cos, a);
            (1.0, s.mul(c, cos))
        }
        Unary::Cos => {
            let sin = s.b.unary(Unary::Sin, a);
            (-1.0, s.mul(c, sin))
        }
        Unary::Tan => {
            let slope = quadratic(s, 1.0, 1.0, v);
            (1.0, s.mul(c, slope))
        }
        Unary::Asin | Unary::Acos => {
            let square = quadratic(s, 1.0, -1.0, a);
            let slope = s.b.unary(Unary::Rsqrt, square);
            (if op == Unary::Asin { 1.0 } else { -1.0 }, s.mul(c, slope))
        }
        Unary::Atan => {
            let square = quadratic(s, 1.0, 1.0, a);
            (1.0, s.div(c, square))
        }
        Unary::Sinh => {
            let cosh = s.b.unary(Unary::Cosh, a);
            (1.0, s.mul(c, cosh))
        }
        Unary::Cosh => {
            let sinh = s.b.unary(Unary::Sinh, a);
            (1.0, s.mul(c, sinh))
        }
        Unary::Tanh => {
            let slope = quadratic(s, 1.0, -1.0, v);
            (1.0, s.mul(c, slope))
        }
        Unary::Asinh | Unary::Acosh => {
            let square = quadratic(s, if op == Unary::Asinh { 1.0 } else { -1.0 }, 1.0, a);
            let slope = s.b.unary(Unary::Rsqrt, square);
            (1.0, s.mul(c, slope))
        }
        Unary::Atanh => {
            let square = quadratic(s, 1.0, -1.0, a);
            (1.0, s.div(c, square))
        }
        Unary::Erf | Unary::Erfc => {
            let square = s.product(&[(a, 2)]);
            let square = s.scale(-1.0, square);
            let bell = s.b.unary(Unary::Exp, square);
            (if op == Unary::Erf { FRAC_2_SQRT_PI } else { -FRAC_2_SQRT_PI }, s.mul(c, bell))
        }
        Unary::Erfinv => {
            let square = s.product(&[(v, 2)]);
            let bell = s.b.unary(Unary::Exp, square);
            (1.0 / FRAC_2_SQRT_PI, s.mul(c, bell))
        }
        Unary::Sigmoid => {
            let rest = s.sum(1.0, &[(-1.0, v)]);
            (1.0, s.product(&[(c, 1), (v, 1), (rest, 1)]))
        }
        Unary::Sqrt => (0.5, s.div(c, v)),
        Unary::Rsqrt => (-0.5, s.product(&[(c, 1), (v, 3)])),
        Unary::Lgamma => {
            let slope = s.b.unary(Unary::Digamma, a);
            (1.0, s.mul(c, slope))
        }
        Unary::Digamma => {
            let slope = s.b.unary(Unary::Trigamma, a);
            (1.0, s.mul(c, slope))
        }
        Unary::Trigamma => return Err(Underivable::Trigamma),
        // At 0 the slope is 0.
        Unary::Abs => {
            let (zero, minus) = (s.zero(), s.scale(-1.0, c));
            let (above, below) = (s.b.lt(zero, a), s.b.lt(a, zero));
            let below = s.b.select(below, minus, zero);
            (1.0, s.b.select(above, c, below))
        }
        Unary::Floor | Unary::Ceil | Unary::Round | Unary::Trunc | Unary::Not | Unary::Detach => (0.0, c),
    })
}

fn binary(s: &mut Simplifier, op: Binary, v: Id, (a, b): (Id, Id), operand: usize, c: Id) -> Id {
    let zero = s.zero();
    match (op, operand) {
        // Where the operands are equal each takes half, as in PyTorch.
        (Binary::Max | Binary::Min, _) => {
            let (mine, other) = if operand == 0 { (a, b) } else { (b, a) };
            let loses = if op == Binary::Max { s.b.lt(mine, other) } else { s.b.lt(other, mine) };
            let (tie, half) = (s.b.eq(a, b), s.scale(0.5, c));
            let wins = s.b.select(loses, zero, c);
            s.b.select(tie, half, wins)
        }
        // `b * a^(b - 1)`, and 0 for `b = 0` whatever `a` is.
        (Binary::Pow, 0) => {
            let less = s.sum(-1.0, &[(1.0, b)]);
            let power = s.b.binary(Binary::Pow, a, less);
            let slope = s.product(&[(c, 1), (b, 1), (power, 1)]);
            match s.b.as_float(b) {
                Some(_) => slope,
                None => {
                    let flat = s.b.eq(b, zero);
                    s.b.select(flat, zero, slope)
                }
            }
        }
        // `v * log(a)`, and 0 for `0^b` with `b` not negative.
        (Binary::Pow, _) => {
            let log = s.b.unary(Unary::Log, a);
            let slope = s.product(&[(c, 1), (v, 1), (log, 1)]);
            let (origin, not_below) = (s.b.eq(a, zero), s.b.le(zero, b));
            let flat = s.b.and(origin, not_below);
            s.b.select(flat, zero, slope)
        }
        (Binary::Atan2, _) => {
            let (x2, y2) = (s.product(&[(a, 2)]), s.product(&[(b, 2)]));
            let square = s.add(x2, y2);
            let (k, other) = if operand == 0 { (1.0, b) } else { (-1.0, a) };
            let slope = s.product(&[(c, 1), (other, 1), (square, -1)]);
            let (slope, origin) = (s.scale(k, slope), s.b.eq(square, zero));
            s.b.select(origin, zero, slope)
        }
        (Binary::Rem, 0) => c,
        (Binary::Rem, _) => {
            let quotient = s.div(a, b);
            let floor = s.b.unary(Unary::Floor, quotient);
            let slope = s.mul(c, floor);
            s.scale(-1.0, slope)
        }
        (
            Binary::Quot
            | Binary::Eq
            | Binary::Lt
            | Binary::Le
            | Binary::And
            | Binary::Or
            | Binary::Xor
            | Binary::Shl
            | Binary::Shr,
            _,
        ) => zero,
    }
}

/// The partial of a reduction by its body at one position.
fn reduction(s: &mut Simplifier, fold: Fold, axes: &[Axis], body: Id, v: Id, c: Id) -> Id {
    let zero = s.zero();
    match fold {
        Fold::Sum => c,
        // The first hit takes all.
        Fold::Max | Fold::Min => {
            let place = if fold == Fold::Max { Fold::ArgMax } else { Fold::ArgMin };
            let hit = s.b.fold(place, axes, body);
            let here = s.b.position(axes);
            let hits = s.b.eq(here, hit);
            s.b.select(hits, c, zero)
        }
        // The product of the others: `v / x` if no factor is 0, and if only this one is, the product of the rest.
        Fold::Prod => {
            let (one, is_zero) = (s.b.float(1.0), s.b.eq(body, zero));
            let counted = s.b.cast(Kind::Int, is_zero);
            let zeros = s.b.sum(axes, counted);
            let others = s.b.select(is_zero, one, body);
            let others = s.b.fold(Fold::Prod, axes, others);
            let (none, single) = (s.b.int(0), s.b.int(1));
            let (none, single) = (s.b.eq(zeros, none), s.b.eq(zeros, single));
            let alone = s.b.and(single, is_zero);
            let (quotient, rest) = (s.product(&[(c, 1), (v, 1), (body, -1)]), s.mul(c, others));
            let rest = s.b.select(alone, rest, zero);
            s.b.select(none, quotient, rest)
        }
        Fold::ArgMax | Fold::ArgMin => zero,
    }
}
