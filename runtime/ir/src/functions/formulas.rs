//! What functions of the table are made of, where that is more than a line or shared.

use crate::build::Builder;
use crate::kernel::{Binary, Id, Kind, Unary};
use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// The constants of `selu`.
pub(super) const SELU_ALPHA: f64 = 1.673_263_242_354_377_2;
pub(super) const SELU_SCALE: f64 = 1.050_700_987_355_480_5;

pub(super) fn log_by(b: &mut Builder, x: Id, base: f64) -> Id {
    let (log, base) = (b.unary(Unary::Log, x), b.float(base));
    b.div(log, base)
}

/// 0 of either kind.
fn zero(b: &mut Builder, like: Id) -> Id {
    if b.kind(like) == Kind::Int { b.int(0) } else { b.float(0.0) }
}

/// A NaN stays; at 0 the gradient is 0.
pub(super) fn relu(b: &mut Builder, x: Id) -> Id {
    let zero = zero(b, x);
    let below = b.le(x, zero);
    b.select(below, zero, x)
}

/// `x / 2 * (1 + erf(x / sqrt 2))`.
pub(super) fn gelu(b: &mut Builder, x: Id) -> Id {
    let scaled = b.scale(FRAC_1_SQRT_2, x);
    let erf = b.unary(Unary::Erf, scaled);
    let (half, one) = (b.scale(0.5, x), b.offset(erf, 1.0));
    b.mul(half, one)
}

/// `x / 2 * (1 + tanh(s))` with `s = sqrt(2 / pi) * (x + 0.044715 * x^3)`, and `(1 + tanh(s)) / 2` written as the
/// logistic function of `2 * s`.
pub(super) fn gelu_tanh(b: &mut Builder, x: Id) -> Id {
    let square = b.power(x, 2);
    let linear = (8.0 / PI).sqrt();
    let slope = b.linear(linear, &[(linear * 0.044715, square)]);
    let inner = b.mul(x, slope);
    let gate = b.unary(Unary::Sigmoid, inner);
    b.mul(x, gate)
}

/// `log(1 + e^x)` for `x` up to the limit. The exponential beyond it must not overflow even where nothing uses it: 0
/// times infinity would spoil the slope.
pub(super) fn log_of_one_and_exp(b: &mut Builder, x: Id, limit: Id) -> Id {
    let large = b.lt(limit, x);
    let small = b.select(large, limit, x);
    let exp = b.unary(Unary::Exp, small);
    b.unary(Unary::Log1p, exp)
}

/// `x * tanh(log(1 + e^x))`, the hyperbolic tangent written as `n / (n + 2)` with `n = e^x * (e^x + 2)`; 1 from 20 on.
pub(super) fn mish(b: &mut Builder, x: Id) -> Id {
    let limit = b.float(20.0);
    let large = b.lt(limit, x);
    let small = b.select(large, limit, x);
    let exp = b.unary(Unary::Exp, small);
    let more = b.offset(exp, 2.0);
    let n = b.mul(exp, more);
    let whole = b.offset(n, 2.0);
    let gate = b.div(n, whole);
    b.mul(x, gate)
}

/// `e^x - 1` where `x` is not above 0, and 0 elsewhere.
pub(super) fn expm1_below(b: &mut Builder, x: Id) -> Id {
    let zero = b.float(0.0);
    let below = above_zero(b, x, zero, x);
    b.unary(Unary::Expm1, below)
}

pub(super) fn above_zero(b: &mut Builder, x: Id, above: Id, rest: Id) -> Id {
    let zero = b.float(0.0);
    let positive = b.lt(zero, x);
    b.select(positive, above, rest)
}

/// `x` between the bounds, with slope 0 at them; NaN where an operand is.
pub(super) fn inside(b: &mut Builder, x: Id, low: Id, high: Id) -> Id {
    let cut = raised(b, x, low);
    lowered(b, cut, high)
}

/// `(x + 3) / 6`.
pub(super) fn shifted_sixth(b: &mut Builder, x: Id) -> Id {
    let (shifted, six) = (b.offset(x, 3.0), b.float(6.0));
    b.div(shifted, six)
}

/// -1, 0 or 1; 0 for a NaN. Its gradient is 0.
pub(super) fn sign(b: &mut Builder, x: Id) -> Id {
    let zero = zero(b, x);
    let (one, minus) = if b.kind(x) == Kind::Int { (b.int(1), b.int(-1)) } else { (b.float(1.0), b.float(-1.0)) };
    let (above, below) = (b.lt(zero, x), b.lt(x, zero));
    let below = b.select(below, minus, zero);
    b.select(above, one, below)
}

/// A small whole constant power is a product.
pub(super) fn pow(b: &mut Builder, x: Id, y: Id) -> Id {
    match b.as_float(y) {
        Some(n) if n.fract() == 0.0 && n.abs() <= 4.0 => b.power(x, n as i64),
        Some(0.5) => b.unary(Unary::Sqrt, x),
        Some(-0.5) => b.unary(Unary::Rsqrt, x),
        Some(_) | None => b.binary(Binary::Pow, x, y),
    }
}

/// The remainder with the sign of the dividend: that of the sizes, with the sign put back. Where the dividend is the
/// smaller it is itself the remainder, so that the slope is 1 at 0 too.
pub(super) fn fmod(b: &mut Builder, x: Id, y: Id) -> Id {
    let (dividend, divisor) = (b.unary(Unary::Abs, x), b.unary(Unary::Abs, y));
    let size = b.binary(Binary::Rem, dividend, divisor);
    let (zero, minus, small) = (zero(b, x), b.neg(size), b.lt(dividend, divisor));
    let below = b.lt(x, zero);
    let rest = b.select(below, minus, size);
    b.select(small, x, rest)
}

/// The quotient rounded down. Of floats it is worked out from the remainder, as Python does it, so that a quotient that
/// is rounded up to a whole number does not count as that.
pub(super) fn floor_divide(b: &mut Builder, x: Id, y: Id) -> Id {
    if b.kind(x) == Kind::Int {
        return b.binary(Binary::Quot, x, y);
    }
    let (rest, zero, one) = (fmod(b, x, y), b.float(0.0), b.float(1.0));
    let whole = b.sub(x, rest);
    let (whole, quotient) = (b.div(whole, y), b.div(x, y));
    // The remainder has the sign of the dividend; where the divisor's differs, the quotient was rounded up.
    let (left, up) = (b.lt(rest, zero), b.lt(zero, rest));
    let (negative, positive) = (b.lt(y, zero), b.lt(zero, y));
    let (down, over) = (b.and(left, positive), b.and(up, negative));
    let rounded_up = b.or(down, over);
    let lower = b.sub(whole, one);
    let whole = b.select(rounded_up, lower, whole);
    let nearest = b.unary(Unary::Round, whole);
    let by_zero = b.eq(y, zero);
    b.select(by_zero, quotient, nearest)
}

/// `sqrt(x^2 + y^2)`, scaled by the larger so that nothing overflows. The gradient is 0 at 0.
pub(super) fn hypot(b: &mut Builder, x: Id, y: Id) -> Id {
    let (a, c) = (b.unary(Unary::Abs, x), b.unary(Unary::Abs, y));
    let largest = b.binary(Binary::Max, a, c);
    let scale = b.unary(Unary::Detach, largest);
    let (zero, inf, one) = (b.float(0.0), b.float(f64::INFINITY), b.float(1.0));
    // An infinite leg makes the whole infinite, even beside one that is no number.
    let (none, first, second) = (b.eq(scale, zero), b.eq(a, inf), b.eq(c, inf));
    let all = b.or(first, second);
    let odd = b.or(none, all);
    let by = b.select(odd, one, scale);
    let (p, q) = (b.div(x, by), b.div(y, by));
    let (p, q) = (b.power(p, 2), b.power(q, 2));
    let sum = b.add(p, q);
    // A root of 0 has no slope.
    let sum = b.select(none, one, sum);
    let root = b.unary(Unary::Sqrt, sum);
    let size = b.mul(by, root);
    let end = b.select(all, inf, zero);
    b.select(odd, end, size)
}

/// `log(e^x + e^y)`: the larger plus what the other adds, so that nothing overflows.
pub(super) fn logaddexp(b: &mut Builder, x: Id, y: Id) -> Id {
    let (less, above) = (b.sub(x, y), b.sub(y, x));
    let (to_x, to_y) = (logsigmoid(b, less), logsigmoid(b, above));
    let (first, second) = (b.sub(x, to_x), b.sub(y, to_y));
    let smaller = b.lt(x, y);
    let sum = b.select(smaller, second, first);
    // Of equal infinities the difference is NaN.
    let (same, size, inf) = (b.eq(x, y), b.unary(Unary::Abs, x), b.float(f64::INFINITY));
    let infinite = b.eq(size, inf);
    let infinite = b.and(same, infinite);
    b.select(infinite, x, sum)
}

/// `min(x, 0) - log(1 + e^-|x|)`: nothing overflows, and no digit is lost where the result is small. The size has a slope
/// at 0, or that of the whole would be lost there.
pub(super) fn logsigmoid(b: &mut Builder, x: Id) -> Id {
    let (zero, minus) = (b.float(0.0), b.neg(x));
    let below = b.lt(x, zero);
    let (inner, least) = (b.select(below, x, minus), b.select(below, x, zero));
    let exp = b.unary(Unary::Exp, inner);
    let soft = b.unary(Unary::Log1p, exp);
    b.sub(least, soft)
}

/// Whether the sign is minus, that of -0 too.
pub(super) fn signbit(b: &mut Builder, x: Id) -> Id {
    let zero = zero(b, x);
    let below = b.lt(x, zero);
    if b.kind(x) == Kind::Int {
        return below;
    }
    let (origin, inverse) = (b.eq(x, zero), b.power(x, -1));
    let minus = b.lt(inverse, zero);
    let minus = b.and(origin, minus);
    b.or(below, minus)
}

/// `min(max(x, low), high)`.
pub(super) fn clamp(b: &mut Builder, x: Id, low: Id, high: Id) -> Id {
    let raised = clamp_min(b, x, low);
    clamp_max(b, raised, high)
}

/// `max(x, low)`, NaN where either is. At a bound the slope is 0 where that is a constant; else each has a half of it.
pub(super) fn clamp_min(b: &mut Builder, x: Id, low: Id) -> Id {
    if b.as_float(low).is_some() { raised(b, x, low) } else { b.binary(Binary::Max, x, low) }
}

/// `min(x, high)`, NaN where either is, with the slopes of [`clamp_min`].
pub(super) fn clamp_max(b: &mut Builder, x: Id, high: Id) -> Id {
    if b.as_float(high).is_some() { lowered(b, x, high) } else { b.binary(Binary::Min, x, high) }
}

/// `x`, and `low` up to there.
fn raised(b: &mut Builder, x: Id, low: Id) -> Id {
    let below = b.le(x, low);
    let below = or_nan(b, below, low);
    b.select(below, low, x)
}

/// `x`, and `high` from there on.
fn lowered(b: &mut Builder, x: Id, high: Id) -> Id {
    let above = b.le(high, x);
    let above = or_nan(b, above, high);
    b.select(above, high, x)
}

/// Whether a condition holds or a bound, which may be a constant, is NaN.
fn or_nan(b: &mut Builder, condition: Id, bound: Id) -> Id {
    if b.kind(bound) == Kind::Int || b.as_float(bound).is_some_and(|n| !n.is_nan()) {
        return condition;
    }
    let same = b.eq(bound, bound);
    let nan = b.not(same);
    b.or(condition, nan)
}

/// `from + weight * (to - from)`, counted from the nearer end, so that both are exact.
pub(super) fn lerp(b: &mut Builder, from: Id, to: Id, weight: Id) -> Id {
    let (way, size, half) = (b.sub(to, from), b.unary(Unary::Abs, weight), b.float(0.5));
    let (near, part, rest) = (b.lt(size, half), b.mul(weight, way), b.linear(1.0, &[(-1.0, weight)]));
    let back = b.mul(way, rest);
    let (first, second) = (b.add(from, part), b.sub(to, back));
    b.select(near, first, second)
}
