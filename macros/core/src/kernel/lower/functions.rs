//! The functions of single values, by PyTorch's names; Rust's own names of the same functions are known as well.

use cotangent_ir::{Binary, Builder, Id, Kind, Unary};

/// What a function takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    /// Floats; integers become floats.
    Floats,
    /// Numbers of one kind: integers beside a float become floats.
    Numbers,
    /// One value of any kind.
    Any,
}

/// A function of single values.
pub(super) struct Function {
    /// PyTorch's name.
    pub(super) name: &'static str,
    pub(super) arity: usize,
    pub(super) takes: Takes,
    pub(super) build: fn(&mut Builder, &[Id]) -> Id,
}

/// The function of that name.
pub(super) fn function(name: &str) -> Option<&'static Function> {
    let name = pytorch(name);
    FUNCTIONS.iter().find(|f| f.name == name)
}

/// Every name of a function, for hints.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.iter().map(|f| f.name).chain(RUST.iter().map(|(rust, _)| *rust))
}

/// PyTorch's name for a name that may be Rust's.
fn pytorch(name: &str) -> &str {
    RUST.iter().find(|(rust, _)| *rust == name).map_or(name, |(_, pytorch)| pytorch)
}

/// Rust's names where PyTorch's differ. The functions are PyTorch's: `round` takes ties to even, `max` and `min` give
/// NaN if either operand is one, `signum` is 0 at 0.
const RUST: &[(&str, &str)] = &[
    ("ln", "log"),
    ("exp_m1", "expm1"),
    ("ln_1p", "log1p"),
    ("recip", "reciprocal"),
    ("fract", "frac"),
    ("signum", "sign"),
    ("max", "maximum"),
    ("min", "minimum"),
    ("is_nan", "isnan"),
    ("is_infinite", "isinf"),
    ("is_finite", "isfinite"),
    ("round_ties_even", "round"),
];

macro_rules! unary {
    ($name:literal, $op:ident) => {
        Function { name: $name, arity: 1, takes: Takes::Floats, build: |b, a| b.unary(Unary::$op, a[0]) }
    };
}

macro_rules! function {
    ($name:literal, $arity:literal, $takes:ident, $build:expr) => {
        Function { name: $name, arity: $arity, takes: Takes::$takes, build: $build }
    };
}

/// Powers are not among them, since their kind depends on both operands.
const FUNCTIONS: &[Function] = &[
    unary!("exp", Exp),
    unary!("expm1", Expm1),
    unary!("log", Log),
    unary!("log1p", Log1p),
    unary!("sin", Sin),
    unary!("cos", Cos),
    unary!("tan", Tan),
    unary!("asin", Asin),
    unary!("acos", Acos),
    unary!("atan", Atan),
    unary!("sinh", Sinh),
    unary!("cosh", Cosh),
    unary!("tanh", Tanh),
    unary!("asinh", Asinh),
    unary!("acosh", Acosh),
    unary!("atanh", Atanh),
    unary!("erf", Erf),
    unary!("sigmoid", Sigmoid),
    unary!("sqrt", Sqrt),
    unary!("rsqrt", Rsqrt),
    unary!("lgamma", Lgamma),
    unary!("digamma", Digamma),
    unary!("floor", Floor),
    unary!("ceil", Ceil),
    unary!("round", Round),
    unary!("trunc", Trunc),
    function!("abs", 1, Numbers, |b, a| b.unary(Unary::Abs, a[0])),
    function!("detach", 1, Any, |b, a| b.unary(Unary::Detach, a[0])),
    function!("square", 1, Numbers, |b, a| b.power(a[0], 2)),
    function!("reciprocal", 1, Floats, |b, a| {
        let one = b.float(1.0);
        b.div(one, a[0])
    }),
    function!("erfc", 1, Floats, |b, a| {
        let (one, erf) = (b.float(1.0), b.unary(Unary::Erf, a[0]));
        b.sub(one, erf)
    }),
    function!("frac", 1, Floats, |b, a| {
        let whole = b.unary(Unary::Trunc, a[0]);
        b.sub(a[0], whole)
    }),
    function!("log2", 1, Floats, |b, a| {
        let log = b.unary(Unary::Log, a[0]);
        b.scale(std::f64::consts::LOG2_E, log)
    }),
    function!("log10", 1, Floats, |b, a| {
        let log = b.unary(Unary::Log, a[0]);
        b.scale(std::f64::consts::LOG10_E, log)
    }),
    function!("exp2", 1, Floats, |b, a| {
        let two = b.float(2.0);
        b.binary(Binary::Pow, two, a[0])
    }),
    // 0 where x <= 0, and so is its derivative; a NaN stays one.
    function!("relu", 1, Floats, |b, a| {
        let zero = b.float(0.0);
        let below = b.le(a[0], zero);
        b.select(below, zero, a[0])
    }),
    function!("sign", 1, Numbers, |b, a| {
        let kind = b.kind(a[0]);
        let (one, zero, less) = (number(b, kind, 1), number(b, kind, 0), number(b, kind, -1));
        let (above, below) = (b.lt(zero, a[0]), b.lt(a[0], zero));
        let rest = b.select(below, less, zero);
        b.select(above, one, rest)
    }),
    function!("isnan", 1, Floats, |b, a| {
        let same = b.eq(a[0], a[0]);
        b.not(same)
    }),
    function!("isinf", 1, Floats, |b, a| {
        let (size, infinity) = (b.unary(Unary::Abs, a[0]), b.float(f64::INFINITY));
        b.eq(size, infinity)
    }),
    function!("isfinite", 1, Floats, |b, a| {
        let (size, infinity) = (b.unary(Unary::Abs, a[0]), b.float(f64::INFINITY));
        b.lt(size, infinity)
    }),
    function!("atan2", 2, Floats, |b, a| b.binary(Binary::Atan2, a[0], a[1])),
    function!("maximum", 2, Numbers, |b, a| b.binary(Binary::Max, a[0], a[1])),
    function!("minimum", 2, Numbers, |b, a| b.binary(Binary::Min, a[0], a[1])),
    function!("remainder", 2, Numbers, |b, a| b.binary(Binary::Rem, a[0], a[1])),
    // The remainder that is not negative, whatever the divisor's sign.
    function!("rem_euclid", 2, Numbers, |b, a| {
        let size = b.unary(Unary::Abs, a[1]);
        b.binary(Binary::Rem, a[0], size)
    }),
    // The remainder with the sign of the dividend, which is the dividend itself where that is smaller: so its derivative
    // is 1 at 0 too.
    function!("fmod", 2, Numbers, |b, a| {
        let (size, divisor) = (b.unary(Unary::Abs, a[0]), b.unary(Unary::Abs, a[1]));
        let rest = b.binary(Binary::Rem, size, divisor);
        let kind = b.kind(rest);
        let (zero, negative, small) = (number(b, kind, 0), b.neg(rest), b.lt(size, divisor));
        let below = b.lt(a[0], zero);
        let rest = b.select(below, negative, rest);
        b.select(small, a[0], rest)
    }),
    function!("floor_divide", 2, Numbers, |b, a| {
        if b.kind(a[0]) == Kind::Float {
            let quotient = b.div(a[0], a[1]);
            b.unary(Unary::Floor, quotient)
        } else {
            b.binary(Binary::Quot, a[0], a[1])
        }
    }),
    // By choices rather than by the larger and the smaller, so that its derivative is 1 at the bounds too.
    function!("clamp", 3, Numbers, |b, a| {
        let below = b.lt(a[0], a[1]);
        let low = b.select(below, a[1], a[0]);
        let above = b.lt(a[2], low);
        b.select(above, a[2], low)
    }),
    function!("lerp", 3, Floats, |b, a| {
        let way = b.sub(a[1], a[0]);
        let step = b.mul(a[2], way);
        b.add(a[0], step)
    }),
    // `a * b + c`, rounded twice.
    function!("mul_add", 3, Numbers, |b, a| {
        let product = b.mul(a[0], a[1]);
        b.add(product, a[2])
    }),
];

/// A whole number of that kind.
pub(super) fn number(b: &mut Builder, kind: Kind, value: i32) -> Id {
    if kind == Kind::Float { b.float(f64::from(value)) } else { b.int(i64::from(value)) }
}
