//! The operations on single values.

use crate::build::{quot, rem, shl, shr};
use crate::kernel::{Binary, Fold, Kind, Num, Unary};
use crate::special::{digamma, erf, erfc, erfinv, lgamma, trigamma};
use std::cmp::Ordering;

/// A function of one operand of that kind.
pub(super) fn unary(op: Unary, kind: Kind, n: Num) -> Num {
    let x = n.as_float();
    let y = match (op, kind) {
        (Unary::Detach, _) => return n,
        (Unary::Not, Kind::Bool) => return Num::bool(!n.as_bool()),
        (Unary::Not, Kind::Int | Kind::Float) => return Num(!n.0),
        (Unary::Abs, Kind::Int | Kind::Bool) => return Num::int(n.as_int().wrapping_abs()),
        (Unary::Abs, Kind::Float) => x.abs(),
        (Unary::Exp, _) => x.exp(),
        (Unary::Expm1, _) => x.exp_m1(),
        (Unary::Log, _) => x.ln(),
        (Unary::Log1p, _) => x.ln_1p(),
        (Unary::Sin, _) => x.sin(),
        (Unary::Cos, _) => x.cos(),
        (Unary::Tan, _) => x.tan(),
        (Unary::Asin, _) => x.asin(),
        (Unary::Acos, _) => x.acos(),
        (Unary::Atan, _) => x.atan(),
        (Unary::Sinh, _) => x.sinh(),
        (Unary::Cosh, _) => x.cosh(),
        (Unary::Tanh, _) => x.tanh(),
        (Unary::Asinh, _) => x.asinh(),
        (Unary::Acosh, _) => x.acosh(),
        (Unary::Atanh, _) => x.atanh(),
        (Unary::Erf, _) => erf(x),
        (Unary::Erfc, _) => erfc(x),
        (Unary::Erfinv, _) => erfinv(x),
        (Unary::Sigmoid, _) if x < 0.0 => x.exp() / (1.0 + x.exp()),
        (Unary::Sigmoid, _) => 1.0 / (1.0 + (-x).exp()),
        (Unary::Sqrt, _) => x.sqrt(),
        (Unary::Rsqrt, _) => 1.0 / x.sqrt(),
        (Unary::Lgamma, _) => lgamma(x),
        (Unary::Digamma, _) => digamma(x),
        (Unary::Trigamma, _) => trigamma(x),
        (Unary::Floor, _) => x.floor(),
        (Unary::Ceil, _) => x.ceil(),
        (Unary::Round, _) => x.round_ties_even(),
        (Unary::Trunc, _) => x.trunc(),
    };
    Num::float(y)
}

/// A function of two operands of that kind.
pub(super) fn binary(op: Binary, kind: Kind, a: Num, b: Num) -> Num {
    let ordering = compare(kind, a, b);
    match op {
        Binary::Eq => return Num::bool(ordering == Some(Ordering::Equal)),
        Binary::Lt => return Num::bool(ordering == Some(Ordering::Less)),
        Binary::Le => return Num::bool(matches!(ordering, Some(Ordering::Less | Ordering::Equal))),
        Binary::Max => return if wins(Fold::Max, kind, b, a) { b } else { a },
        Binary::Min => return if wins(Fold::Min, kind, b, a) { b } else { a },
        Binary::And => return Num(a.0 & b.0),
        Binary::Or => return Num(a.0 | b.0),
        Binary::Xor => return Num(a.0 ^ b.0),
        Binary::Pow | Binary::Atan2 | Binary::Rem | Binary::Quot | Binary::Shl | Binary::Shr => {}
    }
    if kind == Kind::Int {
        return Num::int(ints(op, a.as_int(), b.as_int()).unwrap_or(0));
    }
    let (x, y) = (a.as_float(), b.as_float());
    Num::float(match op {
        Binary::Pow => x.powf(y),
        Binary::Atan2 => x.atan2(y),
        Binary::Rem => {
            let r = x % y;
            if r != 0.0 && (r < 0.0) != (y < 0.0) { r + y } else { r }
        }
        Binary::Quot
        | Binary::Shl
        | Binary::Shr
        | Binary::Eq
        | Binary::Lt
        | Binary::Le
        | Binary::Max
        | Binary::Min
        | Binary::And
        | Binary::Or
        | Binary::Xor => f64::NAN,
    })
}

/// An integer function of two integers; none where the result is none.
pub(super) fn ints(op: Binary, a: i64, b: i64) -> Option<i64> {
    Some(match op {
        Binary::Max => a.max(b),
        Binary::Min => a.min(b),
        Binary::Quot => quot(a, b),
        Binary::Rem => rem(a, b),
        Binary::And => a & b,
        Binary::Or => a | b,
        Binary::Xor => a ^ b,
        Binary::Shl => shl(a, b),
        Binary::Shr => shr(a, b),
        Binary::Pow | Binary::Atan2 | Binary::Eq | Binary::Lt | Binary::Le => return None,
    })
}

fn compare(kind: Kind, a: Num, b: Num) -> Option<Ordering> {
    match kind {
        Kind::Float => a.as_float().partial_cmp(&b.as_float()),
        Kind::Int => Some(a.as_int().cmp(&b.as_int())),
        Kind::Bool => Some(a.as_bool().cmp(&b.as_bool())),
    }
}

/// Whether `a` takes the place of `b` as the largest or smallest so far: a NaN does of all but a NaN.
pub(super) fn wins(fold: Fold, kind: Kind, a: Num, b: Num) -> bool {
    let better = if matches!(fold, Fold::Min | Fold::ArgMin) { Ordering::Less } else { Ordering::Greater };
    let nan = |n: Num| kind == Kind::Float && n.as_float().is_nan();
    !nan(b) && (nan(a) || compare(kind, a, b) == Some(better))
}

/// One more value in a reduction other than `Arg*`.
pub(super) fn accumulate(fold: Fold, kind: Kind, so_far: Num, n: Num) -> Num {
    match (fold, kind) {
        (Fold::Sum, Kind::Float) => Num::float(so_far.as_float() + n.as_float()),
        (Fold::Sum, Kind::Int | Kind::Bool) => Num::int(so_far.as_int().wrapping_add(n.as_int())),
        (Fold::Prod, Kind::Float) => Num::float(so_far.as_float() * n.as_float()),
        (Fold::Prod, Kind::Int | Kind::Bool) => Num::int(so_far.as_int().wrapping_mul(n.as_int())),
        (Fold::Max | Fold::Min | Fold::ArgMax | Fold::ArgMin, _) if wins(fold, kind, n, so_far) => n,
        (Fold::Max | Fold::Min | Fold::ArgMax | Fold::ArgMin, _) => so_far,
    }
}

/// A value in another kind.
pub(super) fn cast(from: Kind, to: Kind, n: Num) -> Num {
    match (from, to) {
        (Kind::Float, Kind::Float) | (Kind::Int, Kind::Int) | (Kind::Bool, Kind::Bool | Kind::Int) => n,
        (Kind::Float, Kind::Int) => Num::int(n.as_float() as i64),
        (Kind::Float, Kind::Bool) => Num::bool(n.as_float() != 0.0),
        (Kind::Int, Kind::Float) => Num::float(n.as_int() as f64),
        (Kind::Int, Kind::Bool) => Num::bool(n.as_int() != 0),
        (Kind::Bool, Kind::Float) => Num::float(f64::from(u8::from(n.as_bool()))),
    }
}

/// `n` to a positive power, by multiplying.
pub(super) fn power(kind: Kind, n: Num, k: u64) -> Num {
    match kind {
        Kind::Float => match i32::try_from(k) {
            Ok(k) if k > 8 => Num::float(n.as_float().powi(k)),
            Ok(k) => Num::float((1..k).fold(n.as_float(), |p, _| p * n.as_float())),
            Err(_) => Num::float(n.as_float().powf(k as f64)),
        },
        Kind::Int | Kind::Bool => {
            let (mut base, mut k, mut power) = (n.as_int(), k, 1i64);
            while k > 0 {
                if k & 1 == 1 {
                    power = power.wrapping_mul(base);
                }
                base = base.wrapping_mul(base);
                k >>= 1;
            }
            Num::int(power)
        }
    }
}
