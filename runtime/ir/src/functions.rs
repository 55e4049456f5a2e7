//! The built-in pointwise functions: PyTorch's names, PyTorch's semantics, gradients at kinks included; Rust's names of
//! what PyTorch has none for.
//!
//! Bodies of kernels call these, and the runtime generates its methods from them.

use crate::build::Builder;
use crate::kernel::{Binary, Id, Kind, Unary};
use std::f64::consts::{FRAC_1_SQRT_2, LN_2, LN_10, PI};

/// The kinds of operands that a function takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Floats.
    Floats,
    /// Floats or integers, all of one kind.
    Numbers,
    /// Truth values.
    Truths,
    /// Truth values or integers, all of one kind.
    Bits,
    /// Integers.
    Integers,
    /// Operands of any one kind.
    Any,
    /// A truth value, then two operands of one kind.
    Choice,
}

/// A pointwise function.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    /// Its name.
    pub name: &'static str,
    /// How many operands it takes.
    pub arity: usize,
    /// Which kinds.
    pub takes: Takes,
    /// The numbers that may follow the operands.
    pub numbers: &'static [Number],
    /// Whether the slope is the same function of the result as of the operand, so that the operand need not be kept.
    pub by_result: bool,
    make: Make,
}

/// A number that a function takes by value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number {
    /// PyTorch's name.
    pub name: &'static str,
    /// Its value where it is left out.
    pub default: f64,
}

#[derive(Clone, Copy, Debug)]
enum Make {
    One(fn(&mut Builder, Id) -> Id),
    Two(fn(&mut Builder, Id, Id) -> Id),
    Three(fn(&mut Builder, Id, Id, Id) -> Id),
    Four(fn(&mut Builder, Id, Id, Id, Id) -> Id),
}

impl Function {
    /// The function of these operands, and of numbers behind them; none if there are too few or too many.
    pub fn make(&self, b: &mut Builder, operands: &[Id]) -> Option<Id> {
        let given = operands.len().checked_sub(self.arity)?;
        let defaults = self.numbers.get(given..)?.iter().map(|n| b.float(n.default));
        let all: Vec<Id> = operands.iter().copied().chain(defaults.collect::<Vec<_>>()).collect();
        match (self.make, &all[..]) {
            (Make::One(f), &[x]) => Some(f(b, x)),
            (Make::Two(f), &[x, y]) => Some(f(b, x, y)),
            (Make::Three(f), &[x, y, z]) => Some(f(b, x, y, z)),
            (Make::Four(f), &[x, y, z, w]) => Some(f(b, x, y, z, w)),
            (Make::One(_) | Make::Two(_) | Make::Three(_) | Make::Four(_), _) => None,
        }
    }
}

/// The function of that name.
pub fn function(name: &str) -> Option<&'static Function> {
    FUNCTIONS.iter().find(|f| f.name == name)
}

const fn one(name: &'static str, takes: Takes, f: fn(&mut Builder, Id) -> Id) -> Function {
    Function { name, arity: 1, takes, numbers: &[], by_result: false, make: Make::One(f) }
}

/// A function of a float and numbers.
const fn with(name: &'static str, numbers: &'static [Number], make: Make) -> Function {
    Function { name, arity: 1, takes: Floats, numbers, by_result: false, make }
}

const fn number(name: &'static str, default: f64) -> Number {
    Number { name, default }
}

const fn by_result(f: Function) -> Function {
    Function { by_result: true, ..f }
}

const fn two(name: &'static str, takes: Takes, f: fn(&mut Builder, Id, Id) -> Id) -> Function {
    Function { name, arity: 2, takes, numbers: &[], by_result: false, make: Make::Two(f) }
}

const fn three(name: &'static str, takes: Takes, f: fn(&mut Builder, Id, Id, Id) -> Id) -> Function {
    Function { name, arity: 3, takes, numbers: &[], by_result: false, make: Make::Three(f) }
}

use Takes::{Any, Bits, Choice, Floats, Integers, Numbers, Truths};

/// Every function.
pub const FUNCTIONS: &[Function] = &[
    one("detach", Any, |b, x| b.unary(Unary::Detach, x)),
    one("neg", Numbers, |b, x| b.neg(x)),
    one("abs", Numbers, |b, x| b.unary(Unary::Abs, x)),
    one("exp", Floats, |b, x| b.unary(Unary::Exp, x)),
    one("exp2", Floats, |b, x| {
        let two = b.float(2.0);
        b.binary(Binary::Pow, two, x)
    }),
    one("expm1", Floats, |b, x| b.unary(Unary::Expm1, x)),
    one("log", Floats, |b, x| b.unary(Unary::Log, x)),
    one("log1p", Floats, |b, x| b.unary(Unary::Log1p, x)),
    one("log2", Floats, |b, x| log_by(b, x, LN_2)),
    one("log10", Floats, |b, x| log_by(b, x, LN_10)),
    one("sqrt", Floats, |b, x| b.unary(Unary::Sqrt, x)),
    one("rsqrt", Floats, |b, x| b.unary(Unary::Rsqrt, x)),
    one("square", Numbers, |b, x| b.power(x, 2)),
    one("reciprocal", Floats, |b, x| b.power(x, -1)),
    one("sin", Floats, |b, x| b.unary(Unary::Sin, x)),
    one("cos", Floats, |b, x| b.unary(Unary::Cos, x)),
    one("tan", Floats, |b, x| b.unary(Unary::Tan, x)),
    one("asin", Floats, |b, x| b.unary(Unary::Asin, x)),
    one("acos", Floats, |b, x| b.unary(Unary::Acos, x)),
    one("atan", Floats, |b, x| b.unary(Unary::Atan, x)),
    one("sinh", Floats, |b, x| b.unary(Unary::Sinh, x)),
    one("cosh", Floats, |b, x| b.unary(Unary::Cosh, x)),
    one("tanh", Floats, |b, x| b.unary(Unary::Tanh, x)),
    one("asinh", Floats, |b, x| b.unary(Unary::Asinh, x)),
    one("acosh", Floats, |b, x| b.unary(Unary::Acosh, x)),
    one("atanh", Floats, |b, x| b.unary(Unary::Atanh, x)),
    one("erf", Floats, |b, x| b.unary(Unary::Erf, x)),
    one("erfc", Floats, |b, x| b.unary(Unary::Erfc, x)),
    one("erfinv", Floats, |b, x| b.unary(Unary::Erfinv, x)),
    one("lgamma", Floats, |b, x| b.unary(Unary::Lgamma, x)),
    one("digamma", Floats, |b, x| b.unary(Unary::Digamma, x)),
    one("sigmoid", Floats, |b, x| b.unary(Unary::Sigmoid, x)),
    by_result(one("relu", Numbers, relu)),
    one("gelu", Floats, gelu),
    one("gelu_tanh", Floats, gelu_tanh),
    one("silu", Floats, |b, x| {
        let gate = b.unary(Unary::Sigmoid, x);
        b.mul(x, gate)
    }),
    one("mish", Floats, mish),
    // From the threshold on the function itself.
    with(
        "softplus",
        &[number("beta", 1.0), number("threshold", 20.0)],
        Make::Three(|b, x, beta, threshold| {
            let scaled = b.mul(beta, x);
            let (large, soft) = (b.lt(threshold, scaled), log_of_one_and_exp(b, scaled, threshold));
            let soft = b.div(soft, beta);
            b.select(large, x, soft)
        }),
    ),
    with(
        "elu",
        &[number("alpha", 1.0)],
        Make::Two(|b, x, alpha| {
            let below = expm1_below(b, x);
            let scaled = b.mul(alpha, below);
            above_zero(b, x, x, scaled)
        }),
    ),
    with(
        "celu",
        &[number("alpha", 1.0)],
        Make::Two(|b, x, alpha| {
            let inner = b.div(x, alpha);
            let below = expm1_below(b, inner);
            let scaled = b.mul(alpha, below);
            above_zero(b, x, x, scaled)
        }),
    ),
    one("selu", Floats, |b, x| {
        let below = expm1_below(b, x);
        let (above, below) = (b.scale(SELU_SCALE, x), b.scale(SELU_SCALE * SELU_ALPHA, below));
        above_zero(b, x, above, below)
    }),
    with(
        "leaky_relu",
        &[number("negative_slope", 0.01)],
        Make::Two(|b, x, slope| {
            let below = b.mul(slope, x);
            above_zero(b, x, x, below)
        }),
    ),
    // At the bounds the slope is 0, other than that of `clamp`.
    by_result(with("hardtanh", &[number("min_val", -1.0), number("max_val", 1.0)], Make::Three(inside))),
    by_result(one("relu6", Floats, |b, x| {
        let (low, high) = (b.float(0.0), b.float(6.0));
        inside(b, x, low, high)
    })),
    one("hardswish", Floats, |b, x| {
        let (gate, zero, three) = (shifted_sixth(b, x), b.float(0.0), b.float(3.0));
        let (middle, minus) = (b.mul(x, gate), b.float(-3.0));
        let (high, low) = (b.le(three, x), b.le(x, minus));
        let below = b.select(low, zero, middle);
        b.select(high, x, below)
    }),
    one("hardsigmoid", Floats, |b, x| {
        let (gate, zero, one) = (shifted_sixth(b, x), b.float(0.0), b.float(1.0));
        let (three, minus) = (b.float(3.0), b.float(-3.0));
        let (high, low) = (b.le(three, x), b.le(x, minus));
        let below = b.select(low, zero, gate);
        b.select(high, one, below)
    }),
    one("logsigmoid", Floats, logsigmoid),
    one("softsign", Floats, |b, x| {
        let size = b.unary(Unary::Abs, x);
        let one = b.offset(size, 1.0);
        b.div(x, one)
    }),
    with(
        "hardshrink",
        &[number("lambd", 0.5)],
        Make::Two(|b, x, lambd| {
            let (minus, zero) = (b.neg(lambd), b.float(0.0));
            let (above, below) = (b.le(minus, x), b.le(x, lambd));
            let between = b.and(above, below);
            b.select(between, zero, x)
        }),
    ),
    with(
        "softshrink",
        &[number("lambd", 0.5)],
        Make::Two(|b, x, lambd| {
            let (minus, zero) = (b.neg(lambd), b.float(0.0));
            let (less, more) = (b.sub(x, lambd), b.add(x, lambd));
            let (high, low) = (b.lt(lambd, x), b.lt(x, minus));
            // A NaN is in neither part and stays.
            let (same, inner) = (b.eq(x, x), b.select(low, more, zero));
            let inner = b.select(same, inner, x);
            b.select(high, less, inner)
        }),
    ),
    one("tanhshrink", Floats, |b, x| {
        let tanh = b.unary(Unary::Tanh, x);
        b.sub(x, tanh)
    }),
    with(
        "threshold",
        &[number("threshold", 0.0), number("value", 0.0)],
        Make::Three(|b, x, threshold, value| {
            let below = b.le(x, threshold);
            b.select(below, value, x)
        }),
    ),
    one("sinc", Floats, |b, x| {
        let (zero, one) = (b.float(0.0), b.float(1.0));
        let (origin, angle) = (b.eq(x, zero), b.scale(PI, x));
        let angle = b.select(origin, one, angle);
        let sine = b.unary(Unary::Sin, angle);
        let ratio = b.div(sine, angle);
        b.select(origin, one, ratio)
    }),
    // Without a margin, which NaN is, nothing is cut.
    with(
        "logit",
        &[number("eps", f64::NAN)],
        Make::Two(|b, x, eps| {
            let high = b.linear(1.0, &[(-1.0, eps)]);
            let (below, above) = (b.lt(x, eps), b.lt(high, x));
            let cut = b.select(above, high, x);
            let cut = b.select(below, eps, cut);
            let rest = b.linear(1.0, &[(-1.0, cut)]);
            let odds = b.div(cut, rest);
            b.unary(Unary::Log, odds)
        }),
    ),
    with(
        "nan_to_num",
        &[number("nan", 0.0), number("posinf", f64::MAX), number("neginf", f64::MIN)],
        Make::Four(|b, x, nan, posinf, neginf| {
            let (inf, minus, same) = (b.float(f64::INFINITY), b.float(f64::NEG_INFINITY), b.eq(x, x));
            let (high, low) = (b.eq(x, inf), b.eq(x, minus));
            let finite = b.select(low, neginf, x);
            let finite = b.select(high, posinf, finite);
            b.select(same, finite, nan)
        }),
    ),
    one("deg2rad", Floats, |b, x| b.scale(PI / 180.0, x)),
    one("rad2deg", Floats, |b, x| b.scale(180.0 / PI, x)),
    one("sign", Numbers, sign),
    one("floor", Floats, |b, x| b.unary(Unary::Floor, x)),
    one("ceil", Floats, |b, x| b.unary(Unary::Ceil, x)),
    one("round", Floats, |b, x| b.unary(Unary::Round, x)),
    one("trunc", Floats, |b, x| b.unary(Unary::Trunc, x)),
    one("frac", Floats, |b, x| {
        let whole = b.unary(Unary::Trunc, x);
        b.sub(x, whole)
    }),
    two("pow", Floats, pow),
    two("powf", Floats, pow),
    two("add", Numbers, |b, x, y| b.add(x, y)),
    two("sub", Numbers, |b, x, y| b.sub(x, y)),
    two("mul", Numbers, |b, x, y| b.mul(x, y)),
    two("div", Floats, |b, x, y| b.div(x, y)),
    two("maximum", Numbers, |b, x, y| b.binary(Binary::Max, x, y)),
    two("minimum", Numbers, |b, x, y| b.binary(Binary::Min, x, y)),
    two("atan2", Floats, |b, x, y| b.binary(Binary::Atan2, x, y)),
    two("remainder", Numbers, |b, x, y| b.binary(Binary::Rem, x, y)),
    two("floor_divide", Numbers, floor_divide),
    // The remainder that is not negative, whatever the divisor's sign.
    two("rem_euclid", Numbers, |b, x, y| {
        let size = b.unary(Unary::Abs, y);
        b.binary(Binary::Rem, x, size)
    }),
    two("fmod", Numbers, fmod),
    two("hypot", Floats, hypot),
    two("copysign", Floats, |b, x, y| {
        let (size, negative) = (b.unary(Unary::Abs, x), signbit(b, y));
        let minus = b.neg(size);
        b.select(negative, minus, size)
    }),
    two("logaddexp", Floats, logaddexp),
    // 0 where `x` is 0, whatever the logarithm is: `0 log 0` is 0 log 1.
    two("xlogy", Floats, |b, x, y| {
        let (zero, one) = (b.float(0.0), b.float(1.0));
        let (none, outside) = (b.eq(x, zero), b.le(y, zero));
        let undefined = b.and(none, outside);
        let inside = b.select(undefined, one, y);
        let log = b.unary(Unary::Log, inside);
        b.mul(x, log)
    }),
    // Rounded twice.
    three("mul_add", Numbers, |b, x, y, z| {
        let product = b.mul(x, y);
        b.add(product, z)
    }),
    three("lerp", Floats, |b, from, to, weight| {
        let way = b.sub(to, from);
        let part = b.mul(weight, way);
        b.add(from, part)
    }),
    three("clamp", Numbers, clamp),
    two("clamp_min", Numbers, clamp_min),
    two("clamp_max", Numbers, clamp_max),
    three("where", Choice, |b, q, x, y| b.select(q, x, y)),
    two("eq", Any, |b, x, y| b.eq(x, y)),
    two("ne", Any, |b, x, y| {
        let equal = b.eq(x, y);
        b.not(equal)
    }),
    two("lt", Numbers, |b, x, y| b.lt(x, y)),
    two("le", Numbers, |b, x, y| b.le(x, y)),
    two("gt", Numbers, |b, x, y| b.lt(y, x)),
    two("ge", Numbers, |b, x, y| b.le(y, x)),
    one("logical_not", Truths, |b, x| b.not(x)),
    two("logical_and", Truths, |b, x, y| b.and(x, y)),
    two("logical_or", Truths, |b, x, y| b.or(x, y)),
    two("logical_xor", Truths, |b, x, y| b.binary(Binary::Xor, x, y)),
    one("bitwise_not", Bits, |b, x| b.not(x)),
    two("bitwise_and", Bits, |b, x, y| b.and(x, y)),
    two("bitwise_or", Bits, |b, x, y| b.or(x, y)),
    two("bitwise_xor", Bits, |b, x, y| b.binary(Binary::Xor, x, y)),
    two("bitwise_left_shift", Integers, |b, x, y| b.binary(Binary::Shl, x, y)),
    two("bitwise_right_shift", Integers, |b, x, y| b.binary(Binary::Shr, x, y)),
    one("isnan", Floats, |b, x| {
        let same = b.eq(x, x);
        b.not(same)
    }),
    one("isinf", Floats, |b, x| {
        let (size, inf) = (b.unary(Unary::Abs, x), b.float(f64::INFINITY));
        b.eq(size, inf)
    }),
    one("isfinite", Floats, |b, x| {
        let (size, inf) = (b.unary(Unary::Abs, x), b.float(f64::INFINITY));
        b.lt(size, inf)
    }),
    one("signbit", Numbers, signbit),
];

/// The constants of `selu`.
const SELU_ALPHA: f64 = 1.673_263_242_354_377_2;
const SELU_SCALE: f64 = 1.050_700_987_355_480_5;

fn log_by(b: &mut Builder, x: Id, base: f64) -> Id {
    let (log, base) = (b.unary(Unary::Log, x), b.float(base));
    b.div(log, base)
}

/// 0 of either kind.
fn zero(b: &mut Builder, like: Id) -> Id {
    if b.kind(like) == Kind::Int { b.int(0) } else { b.float(0.0) }
}

/// A NaN stays; at 0 the gradient is 0.
fn relu(b: &mut Builder, x: Id) -> Id {
    let zero = zero(b, x);
    let below = b.le(x, zero);
    b.select(below, zero, x)
}

/// `x / 2 * (1 + erf(x / sqrt 2))`.
fn gelu(b: &mut Builder, x: Id) -> Id {
    let scaled = b.scale(FRAC_1_SQRT_2, x);
    let erf = b.unary(Unary::Erf, scaled);
    let (half, one) = (b.scale(0.5, x), b.offset(erf, 1.0));
    b.mul(half, one)
}

/// `x / 2 * (1 + tanh(s))` with `s = sqrt(2 / pi) * (x + 0.044715 * x^3)`, and `(1 + tanh(s)) / 2` written as the
/// logistic function of `2 * s`.
fn gelu_tanh(b: &mut Builder, x: Id) -> Id {
    let square = b.power(x, 2);
    let linear = (8.0 / PI).sqrt();
    let slope = b.linear(linear, &[(linear * 0.044715, square)]);
    let inner = b.mul(x, slope);
    let gate = b.unary(Unary::Sigmoid, inner);
    b.mul(x, gate)
}

/// `log(1 + e^x)` for `x` up to the limit. The exponential beyond it must not overflow even where nothing uses it: 0
/// times infinity would spoil the slope.
fn log_of_one_and_exp(b: &mut Builder, x: Id, limit: Id) -> Id {
    let large = b.lt(limit, x);
    let small = b.select(large, limit, x);
    let exp = b.unary(Unary::Exp, small);
    b.unary(Unary::Log1p, exp)
}

/// `x * tanh(log(1 + e^x))`, the hyperbolic tangent written as `n / (n + 2)` with `n = e^x * (e^x + 2)`; 1 from 20 on.
fn mish(b: &mut Builder, x: Id) -> Id {
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
fn expm1_below(b: &mut Builder, x: Id) -> Id {
    let zero = b.float(0.0);
    let below = above_zero(b, x, zero, x);
    b.unary(Unary::Expm1, below)
}

fn above_zero(b: &mut Builder, x: Id, above: Id, rest: Id) -> Id {
    let zero = b.float(0.0);
    let positive = b.lt(zero, x);
    b.select(positive, above, rest)
}

fn inside(b: &mut Builder, x: Id, low: Id, high: Id) -> Id {
    let (below, above) = (b.le(x, low), b.le(high, x));
    let cut = b.select(above, high, x);
    b.select(below, low, cut)
}

/// `(x + 3) / 6`.
fn shifted_sixth(b: &mut Builder, x: Id) -> Id {
    let (shifted, six) = (b.offset(x, 3.0), b.float(6.0));
    b.div(shifted, six)
}

/// -1, 0 or 1; 0 for a NaN. Its gradient is 0.
fn sign(b: &mut Builder, x: Id) -> Id {
    let zero = zero(b, x);
    let (one, minus) = if b.kind(x) == Kind::Int { (b.int(1), b.int(-1)) } else { (b.float(1.0), b.float(-1.0)) };
    let (above, below) = (b.lt(zero, x), b.lt(x, zero));
    let below = b.select(below, minus, zero);
    b.select(above, one, below)
}

/// A small whole constant power is a product.
fn pow(b: &mut Builder, x: Id, y: Id) -> Id {
    match b.as_float(y) {
        Some(n) if n.fract() == 0.0 && n.abs() <= 4.0 => b.power(x, n as i64),
        Some(0.5) => b.unary(Unary::Sqrt, x),
        Some(-0.5) => b.unary(Unary::Rsqrt, x),
        Some(_) | None => b.binary(Binary::Pow, x, y),
    }
}

/// The remainder with the sign of the dividend: that of the sizes, with the sign put back. Where the dividend is the
/// smaller it is itself the remainder, so that the slope is 1 at 0 too.
fn fmod(b: &mut Builder, x: Id, y: Id) -> Id {
    let (dividend, divisor) = (b.unary(Unary::Abs, x), b.unary(Unary::Abs, y));
    let size = b.binary(Binary::Rem, dividend, divisor);
    let (zero, minus, small) = (zero(b, x), b.neg(size), b.lt(dividend, divisor));
    let below = b.lt(x, zero);
    let rest = b.select(below, minus, size);
    b.select(small, x, rest)
}

/// The quotient rounded down. Of floats it is worked out from the remainder, as Python does it, so that a quotient that
/// is rounded up to a whole number does not count as that.
fn floor_divide(b: &mut Builder, x: Id, y: Id) -> Id {
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
fn hypot(b: &mut Builder, x: Id, y: Id) -> Id {
    let (a, c) = (b.unary(Unary::Abs, x), b.unary(Unary::Abs, y));
    let largest = b.binary(Binary::Max, a, c);
    let scale = b.unary(Unary::Detach, largest);
    let (zero, inf, one) = (b.float(0.0), b.float(f64::INFINITY), b.float(1.0));
    let (none, all) = (b.eq(scale, zero), b.eq(scale, inf));
    let odd = b.or(none, all);
    let by = b.select(odd, one, scale);
    let (p, q) = (b.div(x, by), b.div(y, by));
    let (p, q) = (b.power(p, 2), b.power(q, 2));
    let sum = b.add(p, q);
    // A root of 0 has no slope.
    let sum = b.select(none, one, sum);
    let root = b.unary(Unary::Sqrt, sum);
    let size = b.mul(by, root);
    b.select(odd, scale, size)
}

/// `log(e^x + e^y)`: the larger plus what the other adds, so that nothing overflows.
fn logaddexp(b: &mut Builder, x: Id, y: Id) -> Id {
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
fn logsigmoid(b: &mut Builder, x: Id) -> Id {
    let (zero, minus) = (b.float(0.0), b.neg(x));
    let below = b.lt(x, zero);
    let (inner, least) = (b.select(below, x, minus), b.select(below, x, zero));
    let exp = b.unary(Unary::Exp, inner);
    let soft = b.unary(Unary::Log1p, exp);
    b.sub(least, soft)
}

/// Whether the sign is minus, that of -0 too.
fn signbit(b: &mut Builder, x: Id) -> Id {
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

/// `min(max(x, low), high)`. The gradient passes inside and at the bounds.
fn clamp(b: &mut Builder, x: Id, low: Id, high: Id) -> Id {
    let raised = clamp_min(b, x, low);
    clamp_max(b, raised, high)
}

/// `max(x, low)`, NaN where either is. The gradient of a tie is that of `x`.
fn clamp_min(b: &mut Builder, x: Id, low: Id) -> Id {
    let below = b.lt(x, low);
    let below = or_nan(b, below, low);
    b.select(below, low, x)
}

/// `min(x, high)`, NaN where either is. The gradient of a tie is that of `x`.
fn clamp_max(b: &mut Builder, x: Id, high: Id) -> Id {
    let above = b.lt(high, x);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_arities_hold() {
        let mut b = Builder::new("k");
        for (at, f) in FUNCTIONS.iter().enumerate() {
            assert!(FUNCTIONS[..at].iter().all(|g| g.name != f.name), "{}", f.name);
            let operands = vec![b.float(0.5); f.arity];
            assert!(f.make(&mut b, &operands).is_some(), "{}", f.name);
            assert!(f.make(&mut b, &[]).is_none(), "{}", f.name);
        }
    }
}
