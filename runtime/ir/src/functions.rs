//! The built-in pointwise functions: PyTorch's names, PyTorch's semantics, gradients at kinks included; Rust's names of
//! what PyTorch has none for.
//!
//! Bodies of kernels call these, and the runtime generates its methods from them.

mod formulas;

use crate::build::Builder;
use crate::kernel::{Binary, Id, Unary};
use formulas::{
    SELU_ALPHA, SELU_SCALE, above_zero, clamp, clamp_max, clamp_min, expm1_below, floor_divide, fmod, gelu, gelu_tanh,
    hypot, inside, lerp, log_by, log_of_one_and_exp, logaddexp, logsigmoid, mish, pow, relu, shifted_sixth, sign,
    signbit,
};
use std::f64::consts::{LN_2, LN_10, PI};

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
    // What `clamp` is for numbers. A result of 16 bits may lie beside the bound that it is, so that it does not tell.
    with("hardtanh", &[number("min_val", -1.0), number("max_val", 1.0)], Make::Three(inside)),
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
        &[number("nan", 0.0), number("posinf", f32::MAX as f64), number("neginf", f32::MIN as f64)],
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
        let (zero, one, infinity) = (b.float(0.0), b.float(1.0), b.float(f64::INFINITY));
        let (none, below, above) = (b.eq(x, zero), b.le(y, zero), b.eq(y, infinity));
        let outside = b.or(below, above);
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
    three("lerp", Floats, lerp),
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
