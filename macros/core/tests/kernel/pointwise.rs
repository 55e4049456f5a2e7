//! Pointwise kernels.

use super::{check, compare, kernel, near, scalar};
use cotangent_ir::functions::Takes;
use cotangent_ir::special::{digamma, erf, lgamma};
use cotangent_ir::{Data, Node, Value, eval};

#[test]
fn gelu() {
    let source = "pub fn gelu(x: f32) -> f32 { 0.5 * x * (1.0 + erf(x * 0.70710678)) }";
    #[allow(clippy::approx_constant, reason = "what the kernel says, digit by digit")]
    let expected = |x: f64| 0.5 * x * (1.0 + erf(x * 0.70710678));
    for x in [-2.0, -0.5, 0.0, 1.5] {
        check(source, &[scalar(x)], &[scalar(expected(x))]);
    }
}

#[test]
fn swish() {
    let source = "fn swish(x: f32, beta: f32) -> f32 {
        let t = beta * x;
        if t > 20.0 { x } else if t < -20.0 { 0.0 } else { x / (1.0 + (-t).exp()) }
    }";
    for (x, beta) in [(1.0, 2.0), (30.0, 1.0), (-30.0, 1.0), (-1.0, 0.5)] {
        let t: f64 = x * beta;
        let expected = if t > 20.0 {
            x
        } else if t < -20.0 {
            0.0
        } else {
            x / (1.0 + (-t).exp())
        };
        check(source, &[scalar(x), scalar(beta)], &[scalar(expected)]);
    }
}

#[test]
fn polar() {
    let source = "fn polar(x: f32, y: f32) -> (f32, f32, bool) {
        let (a, b): (f32, _) = (x, y);
        let r = (a * a + b.powi(2)).sqrt();
        (r, y.atan2(x), r > 1.0 && !(x < 0.0))
    }";
    let (x, y) = (0.75f64, -1.25f64);
    let r = x.hypot(y);
    check(source, &[scalar(x), scalar(y)], &[scalar(r), scalar(y.atan2(x)), Value::truth(&[], vec![true])]);
}

#[test]
fn calls_of_kernels() {
    let source = "fn calls(x: f32, n: i64) -> f32 {
        ops::calls(x) + swish(x) + crate::ops::swish(n) * blend(x, 2.0) + swish(0.5)
    }";
    insta::assert_snapshot!("calls", super::text(source));
    let calls = kernel(source).callees.iter().map(|k| k.name.to_string()).collect::<Vec<_>>();
    assert_eq!(calls, ["calls_2", "swish", "swish_2", "blend"]);
}

/// The value of an expression of `x`, `y` and `n`.
fn value(e: &str, kind: &str, x: f64, y: f64, n: i64) -> Value {
    let k = kernel(&format!("fn k(x: f32, y: f32, n: i64, _c: bool) -> {kind} {{ let _ = (x, y, n); {e} }}"));
    let args = [scalar(x), scalar(y), Value::int(&[], vec![n]), Value::truth(&[], vec![true])];
    eval(&k, &args).expect(e).remove(0)
}

#[track_caller]
fn float(e: &str, expected: f64) {
    let found = value(e, "f32", 0.75, -1.25, 7);
    assert!(near(found.floats()[0], expected), "{e} is {found:?}, not {expected}");
}

#[track_caller]
fn int(e: &str, expected: i64) {
    assert_eq!(value(e, "i64", 0.75, -1.25, 7).ints(), [expected], "{e}");
}

#[track_caller]
fn truth(e: &str, expected: bool) {
    assert_eq!(value(e, "bool", 0.75, -1.25, 7).data, Data::Bool(vec![expected]), "{e}");
}

#[test]
fn functions() {
    let (x, y) = (0.75f64, -1.25f64);
    for (e, expected) in [
        ("x.ln() + log(x)", 2.0 * x.ln()),
        ("x.exp_m1() - expm1(x) + x.ln_1p() - log1p(x)", 0.0),
        ("x.sin() + cos(x) + x.tan()", x.sin() + x.cos() + x.tan()),
        ("asin(x) + acos(x) + atan(x)", x.asin() + x.acos() + x.atan()),
        ("sinh(x) + cosh(x) + tanh(x)", x.sinh() + x.cosh() + x.tanh()),
        ("asinh(x) + acosh(1.0 + x) + atanh(x)", x.asinh() + (1.0 + x).acosh() + x.atanh()),
        ("sigmoid(x)", 1.0 / (1.0 + (-x).exp())),
        ("sqrt(x) * rsqrt(x)", 1.0),
        ("lgamma(x) + digamma(x)", lgamma(x) + digamma(x)),
        ("floor(y) + ceil(y) + round(y) + trunc(y)", -2.0 - 1.0 - 1.0 - 1.0),
        ("round(2.5) + (-0.5).round_ties_even()", 2.0),
        ("y.abs() + abs(y)", 2.5),
        ("x.powi(3) + x.powi(-2) + x.powi(0)", x.powi(3) + x.powi(-2) + 1.0),
        ("x.powf(y) + pow(x, y) + x.powf(2)", 2.0 * x.powf(y) + x * x),
        ("x.recip() + reciprocal(x)", 2.0 / x),
        ("x.log2() + x.log10() + x.exp2()", x.log2() + x.log10() + x.exp2()),
        ("x.max(y) + min(x, y) + maximum(x, 2) + x.minimum(0)", x + y + 2.0),
        ("x.max(f32::NAN)", f64::NAN),
        ("y.signum() + sign(x) + sign(0.0)", 0.0),
        ("y.rem_euclid(-0.5) + y.remainder(-0.5) + remainder(y, 0.5)", 0.25 - 0.25 + 0.25),
        ("y % 0.5 + y % -0.5", 0.25 - 0.25),
        ("fmod(y, 0.5) + y.fmod(-2.0) + x.fmod(-0.5)", -0.25 - 1.25 + 0.25),
        ("floor_divide(y, 0.5) + y.frac() + 2.75.fract()", -3.0 - 0.25 + 0.75),
        ("erfc(x) + erf(x)", 1.0),
        ("x.clamp(0.8, 1) + y.clamp(-1.0, 1.0) + x.clamp(2.0, 1.0) + x.clamp(0.5, 1.0)", 0.8 - 1.0 + 1.0 + x),
        ("f32::NAN.clamp(0.0, 1.0)", f64::NAN),
        ("x.mul_add(y, 2.0)", x * y + 2.0),
        ("lerp(x, y, 0.25)", x + 0.25 * (y - x)),
        ("relu(x) + y.relu()", x),
        ("silu(x) - x * sigmoid(x)", 0.0),
        ("elu(y) + y.elu(2.0) + elu(x, n)", 3.0 * y.exp_m1() + x),
        ("softplus(x, 2.0) + y.softplus(1, -2)", (2.0 * x).exp().ln_1p() / 2.0 + y),
        ("leaky_relu(y) + hardtanh(y, -0.5, 1) + n.leaky_relu()", 0.01 * y - 0.5 + 7.0),
        ("gelu(x) - 0.5 * x * (1.0 + erf(x / sqrt(2.0)))", 0.0),
        ("add(x, n) - x.sub(2) * neg(y)", x + 7.0 + (x - 2.0) * y),
        ("square(x) + x.square()", 2.0 * x * x),
        ("detach(x) + x.detach()", 2.0 * x),
        ("select(x < y, 1.0, 2)", 2.0),
        ("f32::max(x, y) + f64::sqrt(x)", x + x.sqrt()),
        ("(x > 0.0) as f32 + true as f32", 2.0),
        ("n as f32 + n + 1", 15.0),
        ("x + n / 2", x + 3.0),
        ("1 / x + 2 * n", 1.0 / x + 14.0),
        ("{ let x = x + 1.0; let (x, (y, _)) = (x * 2.0, (y, 1)); x + y }", 2.0 * (x + 1.0) + y),
        ("if x > y { let z = x; z } else { 0 }", x),
    ] {
        float(e, expected);
    }
}

#[test]
fn integers_and_truth_values() {
    for (e, expected) in [
        ("n / 2 + -n / 2 + n / -2", 3 - 4 - 4),
        ("n % 3 + -n % 3 + n % -3", 1 + 2 - 2),
        ("-n.rem_euclid(-3) + (-n).rem_euclid(3)", -1 + 2),
        ("(n << 2 | 1) ^ 5 & !2", (7 << 2 | 1) ^ 5 & !2),
        ("-n >> 1", -4),
        ("n.bitwise_left_shift(2) + bitwise_and(n, 5) + n.relu() + (-n).relu()", 28 + 5 + 7),
        ("fmod(-n, 3) + n.fmod(-3) + floor_divide(-n, 2)", -1 + 1 - 4),
        ("n * n - n.powi(3) + n.pow(2) + i64::pow(n, 0)", 49 - 343 + 49 + 1),
        ("(x * 10.0) as i64 + (y * 10.0) as usize + 2.0f32 as i64", 7 - 12 + 2),
        ("n.max(9) + min(n, 3) + n.clamp(8, 9) + sign(-n) + abs(-n) + square(n)", 9 + 3 + 8 - 1 + 7 + 49),
        ("-9223372036854775808 + i64::MAX - i64::MIN", i64::MAX),
        ("if x > 0.0 { n } else { 0 }", 7),
        ("0xff + 0b11 + 1_000usize", 255 + 3 + 1000),
    ] {
        int(e, expected);
    }
    for (e, expected) in [
        ("x > y && n >= 7 && n <= 7 && n != 6 && n == 7.0", true),
        ("x < y || !(n < 7)", true),
        ("(x > y) ^ true | false & true", false),
        ("logical_and(x > y, n.ge(7)) && logical_not(x.isnan()) && x.ne(n)", true),
        ("(x > y) == (n > 3) && (x > y) != false", true),
        ("f32::NAN == f32::NAN || !(f32::NAN != f32::NAN)", false),
        ("isnan(x / 0.0 - x / 0.0) && is_infinite(x / 0.0) && x.is_finite()", true),
        ("f32::NAN >= x || f32::NAN < x", false),
    ] {
        truth(e, expected);
    }
}

#[test]
fn literals_are_exact() {
    for (e, expected) in [
        ("1e-3", 1e-3),
        ("-0.0", -0.0),
        ("-(0.0)", -0.0),
        ("0.1", 0.1),
        ("0.1f32", f64::from(0.1f32)),
        ("1f32", 1.0),
        ("1_0.5e1", 105.0),
        ("5e-324", 5e-324),
        ("f32::NAN", f64::from(f32::NAN)),
        ("f32::INFINITY", f64::INFINITY),
        ("std::f32::NEG_INFINITY", f64::NEG_INFINITY),
        ("f32::MAX", f64::from(f32::MAX)),
        ("f32::MIN", f64::from(f32::MIN)),
        ("f32::EPSILON", f64::from(f32::EPSILON)),
        ("f32::MIN_POSITIVE", f64::from(f32::MIN_POSITIVE)),
        ("f64::EPSILON", f64::EPSILON),
        ("std::f32::consts::PI", f64::from(std::f32::consts::PI)),
        ("core::f64::consts::FRAC_2_SQRT_PI", std::f64::consts::FRAC_2_SQRT_PI),
    ] {
        let k = kernel(&format!("fn k(_x: f32) -> f32 {{ {e} }}"));
        let out = k.outs[0].stores[0].node;
        let Node::Const(_, bits) = k.nodes[out.at()] else { panic!("{e} is no constant\n{k}") };
        assert_eq!(bits.as_float().to_bits(), f64::to_bits(expected), "{e}");
    }
    compare(&kernel("fn k(x: f32) -> f32 { x - 0.0 }"), &[scalar(-0.0)], &[scalar(-0.0)]);
}

#[test]
fn every_function_of_the_table() {
    for f in cotangent_ir::FUNCTIONS {
        let first = ["x", "y", "x"][..f.arity].join(", ");
        let args = match f.takes {
            Takes::Floats | Takes::Numbers | Takes::Any => first,
            Takes::Truths => ["x > y", "n > 1"][..f.arity].join(", "),
            Takes::Bits | Takes::Integers => ["n", "3"][..f.arity].join(", "),
            Takes::Choice => "x > y, x, y".to_owned(),
        };
        let (name, numbers) = (f.name.replace("where", "r#where"), ", 2.0".repeat(f.numbers.len()));
        for args in [args.clone(), args + &numbers] {
            let source =
                |kind| format!("fn k(x: f32, y: f32, n: i64) -> {kind} {{ let _ = (x, y, n); {name}({args}) }}");
            assert!(["f32", "i64", "bool"].iter().any(|kind| super::accepted(&source(kind))), "{name}");
        }
    }
}
