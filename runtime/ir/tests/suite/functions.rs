//! The built-in functions: values and gradients, at kinks too.

use crate::common::{Rng, check_gradient, derive, gradients, run};
use cotangent_ir::functions::Takes;
use cotangent_ir::{Arg, Builder, FUNCTIONS, Kernel, Kind, Save, Value, function, verify};

/// The kernel of a function on arguments `x`, `y`, `z` of these kinds.
fn kernel_of(name: &str, kinds: &[Kind]) -> Kernel {
    let mut b = Builder::new(name);
    let n = b.dim("N");
    let n = b.size(n);
    let i = b.axis("i", n);
    let mut operands = vec![];
    for (name, &kind) in ["x", "y", "z", "w"].iter().zip(kinds) {
        let arg = b.arg(name, kind, &[n]);
        operands.push(b.load_over(arg, &[i]));
    }
    let f = function(name).unwrap_or_else(|| panic!("{name}"));
    let node = f.make(&mut b, &operands).unwrap_or_else(|| panic!("{name}"));
    b.output_over("out", &[i], node);
    let k = b.finish();
    assert!(verify(&k).is_empty(), "{name}: {:?}", verify(&k));
    k
}

fn floats(columns: &[&[f64]]) -> Vec<Value> {
    columns.iter().map(|c| Value::float(&[c.len()], c.to_vec())).collect()
}

/// A float function's values.
fn check(name: &str, columns: &[&[f64]], expected: &[f64]) {
    let k = kernel_of(name, &vec![Kind::Float; columns.len()]);
    let out = run(&k, &floats(columns));
    for (found, expected) in out[0].floats().iter().zip(expected) {
        let same = (found - expected).abs() <= 1e-12 * (1.0 + expected.abs()) || found.to_bits() == expected.to_bits();
        assert!(same || (found.is_nan() && expected.is_nan()), "{name}{columns:?}: {:?}", out[0].floats());
    }
}

/// A float function's gradients for cotangents of 1, by argument.
fn check_slopes(name: &str, columns: &[&[f64]], expected: &[&[f64]]) {
    let k = kernel_of(name, &vec![Kind::Float; columns.len()]);
    let wrt: Vec<Arg> = (0..columns.len() as u32).map(Arg).collect();
    let ones = Value::float(&[columns[0].len()], vec![1.0; columns[0].len()]);
    for save in [Save::Nothing, Save::Useful] {
        let d = derive(&k, &wrt, save);
        let found = gradients(&k, &d, &floats(columns), &vec![Some(ones.clone())]);
        for (found, expected) in found.iter().zip(expected) {
            let close = |(f, e): (&f64, &f64)| (f - e).abs() < 1e-12 || (f.is_nan() && e.is_nan());
            assert!(found.floats().iter().zip(*expected).all(close), "{name}{columns:?}: {found:?}");
        }
    }
}

#[test]
fn every_float_function_has_a_right_gradient() {
    for f in FUNCTIONS.iter().filter(|f| matches!(f.takes, Takes::Floats | Takes::Numbers)) {
        let k = kernel_of(f.name, &vec![Kind::Float; f.arity]);
        if k.outs[0].kind != Kind::Float {
            continue;
        }
        // Inside of every function's domain and away from kinks.
        let positive = matches!(
            f.name,
            "log"
                | "log2"
                | "log10"
                | "sqrt"
                | "rsqrt"
                | "pow"
                | "powf"
                | "lgamma"
                | "digamma"
                | "log1p"
                | "reciprocal"
                | "div"
                | "xlogy"
        );
        let mut rng = Rng::new(3);
        for _ in 0..8 {
            let args: Vec<Value> = (0..f.arity)
                .map(|_| {
                    let value = |x: f64| match f.name {
                        _ if positive => x.abs() + 0.2,
                        "acosh" => x.abs() + 1.2,
                        "asin" | "acos" | "atanh" | "erfinv" => x / 2.0,
                        "logit" => 0.5 + x / 4.0,
                        "hardswish" | "hardsigmoid" => 3.0 * x,
                        _ => x,
                    };
                    Value::float(&[4], (0..4).map(|_| value(rng.float())).collect())
                })
                .collect();
            check_gradient(&k, &args, 1e-7);
        }
    }
}

#[test]
fn gradients_at_kinks_are_those_of_pytorch() {
    check_slopes("relu", &[&[0.0, -1.0, 1.0]], &[&[0.0, 0.0, 1.0]]);
    check_slopes("abs", &[&[0.0, -1.0, 1.0]], &[&[0.0, -1.0, 1.0]]);
    check_slopes("sign", &[&[0.0, 2.0]], &[&[0.0, 0.0]]);
    let (low, high): (&[f64], &[f64]) = (&[0.0; 5], &[1.0; 5]);
    check_slopes(
        "clamp",
        &[&[-1.0, 0.0, 0.5, 1.0, 2.0], low, high],
        &[&[0.0, 0.5, 1.0, 0.5, 0.0], &[1.0, 0.5, 0.0, 0.0, 0.0], &[0.0, 0.0, 0.0, 0.5, 1.0]],
    );
    check_slopes("maximum", &[&[1.0, 2.0, 3.0], &[2.0, 2.0, 2.0]], &[&[0.0, 0.5, 1.0], &[1.0, 0.5, 0.0]]);
    check_slopes("minimum", &[&[1.0, 2.0, 3.0], &[2.0, 2.0, 2.0]], &[&[1.0, 0.5, 0.0], &[0.0, 0.5, 1.0]]);
    check_slopes("pow", &[&[0.0, 0.0, 2.0], &[0.0, 2.0, 0.0]], &[&[0.0, 0.0, 0.0], &[0.0, 0.0, 2f64.ln()]]);
    check_slopes("hardtanh", &[&[-1.0, 0.0, 1.0]], &[&[0.0, 1.0, 0.0]]);
    check_slopes("elu", &[&[0.0, 1000.0]], &[&[1.0, 1.0]]);
    check_slopes("leaky_relu", &[&[0.0]], &[&[0.01]]);
    check_slopes("floor", &[&[1.5]], &[&[0.0]]);
    check_slopes("frac", &[&[1.5]], &[&[1.0]]);
    check_slopes("softplus", &[&[1000.0, -1000.0]], &[&[1.0, 0.0]]);
    check_slopes("logsigmoid", &[&[0.0, -1000.0, 1000.0]], &[&[0.5, 1.0, 0.0]]);
    check_slopes("selu", &[&[1000.0]], &[&[1.050_700_987_355_480_5]]);
    check_slopes("mish", &[&[1000.0, -1000.0]], &[&[1.0, 0.0]]);
    check_slopes("square", &[&[0.0]], &[&[0.0]]);
    check_slopes("mul", &[&[0.0], &[0.0]], &[&[0.0], &[0.0]]);
    check_slopes("sinc", &[&[0.0]], &[&[0.0]]);
    check_slopes("hypot", &[&[0.0, 3.0], &[0.0, 4.0]], &[&[0.0, 0.6], &[0.0, 0.8]]);
    check_slopes("logaddexp", &[&[1.0], &[1.0]], &[&[0.5], &[0.5]]);
    check_slopes("xlogy", &[&[0.0, 0.0], &[0.0, 2.0]], &[&[0.0, 2f64.ln()], &[0.0, 0.0]]);
    check_slopes("clamp_max", &[&[1.0, 2.0, 3.0], &[2.0; 3]], &[&[1.0, 0.5, 0.0], &[0.0, 0.5, 1.0]]);
    check_slopes("fmod", &[&[7.0, -7.0], &[3.0, 3.0]], &[&[1.0, 1.0], &[-2.0, 2.0]]);
}

#[test]
fn what_is_said_to_have_its_slope_by_the_result_has() {
    let places: &[f64] = &[-9.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0, 6.0, 7.0, f64::NAN];
    let ones = Value::float(&[places.len()], vec![1.0; places.len()]);
    for f in FUNCTIONS.iter().filter(|f| f.by_result) {
        let k = kernel_of(f.name, &[Kind::Float]);
        let results = run(&k, &floats(&[places]));
        let d = derive(&k, &[Arg(0)], Save::Nothing);
        let slopes = |x: &[Value]| gradients(&k, &d, x, &vec![Some(ones.clone())]);
        assert_eq!(slopes(&floats(&[places])), slopes(&results), "{}", f.name);
    }
}

#[test]
fn values_at_the_edges() {
    let (nan, inf) = (f64::NAN, f64::INFINITY);
    check("relu", &[&[nan, -0.0, 2.0]], &[nan, 0.0, 2.0]);
    check("fmod", &[&[7.0, -7.0, 7.0, -7.0], &[3.0, 3.0, -3.0, -3.0]], &[1.0, -1.0, 1.0, -1.0]);
    check("remainder", &[&[7.0, -7.0, 7.0, -7.0], &[3.0, 3.0, -3.0, -3.0]], &[1.0, 2.0, -2.0, -1.0]);
    check("floor_divide", &[&[7.0, -7.0, 1.0, -1.0, 1.0], &[2.0, 2.0, 0.1, inf, 0.0]], &[3.0, -4.0, 9.0, -1.0, inf]);
    check("hypot", &[&[3.0, 0.0, inf, 1e300], &[4.0, 0.0, 1.0, 1e300]], &[5.0, 0.0, inf, 2f64.sqrt() * 1e300]);
    check("copysign", &[&[1.0, -2.0, 3.0], &[-0.0, 0.0, -1.0]], &[-1.0, 2.0, -3.0]);
    check("logaddexp", &[&[0.0, inf, -1e9, -inf], &[0.0, inf, 1.0, -inf]], &[2f64.ln(), inf, 1.0, -inf]);
    check("xlogy", &[&[0.0, 0.0, 2.0], &[0.0, nan, 1.0]], &[0.0, nan, 0.0]);
    check("clamp_min", &[&[nan, 1.0, 1.0], &[0.0, nan, 2.0]], &[nan, nan, 2.0]);
    check("nan_to_num", &[&[nan, inf, -inf, 1.0]], &[0.0, f32::MAX.into(), f32::MIN.into(), 1.0]);
    check("sinc", &[&[0.0, 0.5]], &[1.0, std::f64::consts::FRAC_2_PI]);
    check("logit", &[&[0.5, 1.0, 2.0]], &[0.0, inf, nan]);
    check("softshrink", &[&[nan, 0.2, 1.0, -1.0]], &[nan, 0.0, 0.5, -0.5]);
    check("hardshrink", &[&[nan, 0.2, 1.0, -0.5]], &[nan, 0.0, 1.0, 0.0]);
    check("threshold", &[&[nan, 0.2, -1.0]], &[nan, 0.2, 0.0]);
    check("erfc", &[&[5.0, -1.0]], &[1.537_459_794_428_034_8e-12, 1.842_700_792_949_715]);
    check("clamp", &[&[nan, 5.0, -5.0], &[0.0; 3], &[1.0, 1.0, -1.0]], &[nan, 1.0, -1.0]);
    check("softplus", &[&[0.0, 1000.0, -1000.0]], &[2f64.ln(), 1000.0, 0.0]);
    check("logsigmoid", &[&[0.0, -1000.0]], &[-(2f64.ln()), -1000.0]);
    check("gelu", &[&[1.0, -1.0]], &[0.841_344_746_068_542_9, -0.158_655_253_931_457_05]);
    check("gelu_tanh", &[&[1.0]], &[0.841_191_990_608_307_7]);
    check("mish", &[&[1.0]], &[0.865_098_388_267_310_5]);
    check("hardswish", &[&[-3.0, 0.0, 3.0, 1.0]], &[0.0, 0.0, 3.0, 4.0 / 6.0]);
    check("hardsigmoid", &[&[-3.0, 0.0, 3.0]], &[0.0, 0.5, 1.0]);
    check("sign", &[&[-2.0, 0.0, nan]], &[-1.0, 0.0, 0.0]);
    check("log2", &[&[8.0]], &[3.0]);
    check("maximum", &[&[nan, 1.0], &[1.0, nan]], &[nan, nan]);
    check("lerp", &[&[1.0, 1e-30], &[3.0, 0.1], &[0.25, 1.0]], &[1.5, 0.1]);
    check("pow", &[&[-2.0, inf], &[3.0, -1.0]], &[-8.0, 0.0]);
    let truth = |name: &str| {
        let k = kernel_of(name, &[Kind::Float]);
        run(&k, &floats(&[&[nan, inf, -inf, 1.0]]))[0].clone()
    };
    assert_eq!(truth("isnan"), Value::truth(&[4], vec![true, false, false, false]));
    assert_eq!(truth("isinf"), Value::truth(&[4], vec![false, true, true, false]));
    assert_eq!(truth("isfinite"), Value::truth(&[4], vec![false, false, false, true]));
}

#[test]
fn integers_and_truth_values_have_functions() {
    let ints = |name: &str, columns: &[&[i64]]| {
        let k = kernel_of(name, &vec![Kind::Int; columns.len()]);
        let args: Vec<Value> = columns.iter().map(|c| Value::int(&[c.len()], c.to_vec())).collect();
        run(&k, &args)[0].clone()
    };
    assert_eq!(ints("floor_divide", &[&[7, -7], &[2, 2]]).ints(), [3, -4]);
    assert_eq!(ints("relu", &[&[7, -7]]).ints(), [7, 0]);
    assert_eq!(ints("sign", &[&[7, -7, 0]]).ints(), [1, -1, 0]);
    assert_eq!(ints("bitwise_xor", &[&[6], &[3]]).ints(), [5]);
    assert_eq!(ints("bitwise_not", &[&[0]]).ints(), [-1]);
    assert_eq!(ints("clamp", &[&[5, -5, 1], &[0; 3], &[2; 3]]).ints(), [2, 0, 1]);
    assert_eq!(ints("gt", &[&[5, 1], &[1, 1]]), Value::truth(&[2], vec![true, false]));
    let k = kernel_of("logical_xor", &[Kind::Bool, Kind::Bool]);
    let args = [Value::truth(&[2], vec![true, true]), Value::truth(&[2], vec![true, false])];
    assert_eq!(run(&k, &args)[0], Value::truth(&[2], vec![false, true]));
}
