//! The evaluator's own semantics, on small cases done by hand.

use crate::common::{kernel, run};
use cotangent_ir::{EvalError, Value, eval};

/// A kernel with the arguments `x: float[N]`, `t: int[N]` and these outputs.
fn on(outs: &str, x: &[f64], t: &[i64]) -> Vec<Value> {
    let text = format!("kernel k\ndim N\naxis i < N, j < N\narg x: float[N]\narg t: int[N]\n{outs}");
    run(&kernel(&text), &[Value::float(&[x.len()], x.to_vec()), Value::int(&[t.len()], t.to_vec())])
}

fn check_ints(expression: &str, t: &[i64], expected: &[i64]) {
    let x = vec![0.0; t.len()];
    let out = on(&format!("out y: int[N]\n  y[i] = {expression}"), &x, t);
    assert_eq!(out[0].ints(), expected, "{expression}");
}

fn check_floats(expression: &str, x: &[f64], expected: &[f64]) {
    let t = vec![0; x.len()];
    let out = on(&format!("out y: float[N]\n  y[i] = {expression}"), x, &t);
    let bits = |v: &[f64]| v.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(out[0].floats()), bits(expected), "{expression}: {:?}", out[0]);
}

#[test]
fn integers_are_exact_and_wrap() {
    check_ints("9223372036854775807 + t[i]", &[1, 0], &[i64::MIN, i64::MAX]);
    check_ints("quot(t[i], 3)", &[7, -7, i64::MIN], &[2, -3, -3_074_457_345_618_258_603]);
    check_ints("rem(t[i], -3)", &[7, -7, 6], &[-2, -1, 0]);
    check_ints("quot(t[i], 0) + rem(t[i], 0)", &[7, -7], &[0, 0]);
    check_ints("quot(t[i], -1)", &[i64::MIN], &[i64::MIN]);
    check_ints("shl(t[i], 64) + shr(t[i], 64)", &[-5, 5], &[-1, 0]);
    check_ints("not(t[i])", &[0, -1], &[-1, 0]);
    check_ints("t[i]^3", &[-2, 3_000_000], &[-8, 27_000_000_000_000_000_000u128 as u64 as i64]);
}

#[test]
fn casts_follow_rust() {
    let out = on("out y: int[N]\n  y[i] = int(x[i])", &[1.9, -1.9, f64::NAN, 1e300], &[0; 4]);
    assert_eq!(out[0].ints(), [1, -1, 0, i64::MAX]);
}

#[test]
fn signed_zeros_survive() {
    check_floats("x[i]", &[-0.0], &[-0.0]);
    check_floats("-x[i]", &[0.0, -0.0], &[-0.0, 0.0]);
    check_floats("2.0 * x[i]", &[-0.0], &[-0.0]);
    check_floats("x[i] + 0.0", &[-0.0], &[0.0]);
    check_floats("x[i] - 0.0", &[-0.0], &[-0.0]);
}

#[test]
fn reductions_meet_nan_ties_and_nothing() {
    let nan = f64::NAN;
    let arg = |f: &str, x: &[f64]| on(&format!("out y: int\n  y = {f}[j](x[j])"), x, &vec![0; x.len()])[0].ints()[0];
    assert_eq!(arg("argmax", &[1.0, 3.0, 3.0]), 1);
    assert_eq!(arg("argmax", &[1.0, nan, 3.0, nan]), 1);
    assert_eq!(arg("argmin", &[1.0, nan, 0.0]), 1);
    assert_eq!(arg("argmin", &[f64::INFINITY, f64::INFINITY]), 0);
    let fold =
        |f: &str, x: &[f64]| on(&format!("out y: float\n  y = {f}[j](x[j])"), x, &vec![0; x.len()])[0].floats()[0];
    assert!(fold("max", &[1.0, nan, 3.0]).is_nan());
    assert_eq!(fold("max", &[]), f64::NEG_INFINITY);
    assert_eq!(fold("prod", &[]), 1.0);
    assert_eq!(fold("sum", &[]), 0.0);
    check_floats("max(x[i], 1.0)", &[nan, 0.0, 2.0], &[nan, 1.0, 2.0]);
    check_floats("rem(x[i], -3.0)", &[7.0, -7.0], &[-2.0, -1.0]);
    check_floats("round(x[i])", &[0.5, 1.5, -2.5], &[0.0, 2.0, -2.0]);
}

#[test]
fn scans_run_both_ways() {
    check_floats("cumsum[i](x[i])", &[1.0, 2.0, 4.0], &[1.0, 3.0, 7.0]);
    check_floats("cumsum[i; reverse](x[i])", &[1.0, 2.0, 4.0], &[7.0, 6.0, 4.0]);
    check_floats("cumsum[i; exclusive](x[i])", &[1.0, 2.0, 4.0], &[0.0, 1.0, 3.0]);
    check_floats("cumprod[i; reverse, exclusive](x[i])", &[1.0, 2.0, 4.0], &[8.0, 4.0, 1.0]);
    check_floats("cummax[i](x[i])", &[1.0, 0.0, 4.0], &[1.0, 1.0, 4.0]);
}

#[test]
fn arg_over_two_axes_counts_in_row_major_order() {
    let k = kernel(
        "kernel k\ndim M, N\naxis i < M, j < N\narg x: float[M, N]\nout y: int[2]\n  y[0] over = argmax[i, j](x[i, j])\n  y[1] over = argmax[j, i](x[i, j])",
    );
    let x = Value::float(&[2, 3], vec![0.0, 1.0, 2.0, 3.0, 9.0, 5.0]);
    assert_eq!(run(&k, &[x])[0].ints(), [4, 3]);
}

#[test]
fn random_words_are_those_of_the_stream() {
    let out = on("out y: int[N]\n  y[i] = random(77, t[i])", &[0.0; 3], &[0, 63, 1 << 40]);
    let expected: Vec<i64> = [0, 63, 1 << 40].iter().map(|&i| i64::from(cotangent_ir::philox::word(77, i))).collect();
    assert_eq!(out[0].ints(), expected);
}

#[test]
fn what_a_fast_kernel_would_do_wrong_is_refused() {
    let fails = |outs: &str, t: &[i64]| {
        let text = format!("kernel k\ndim N\naxis i < N\narg t: int[N]\n{outs}");
        eval(&kernel(&text), &[Value::int(&[t.len()], t.to_vec())]).expect_err(outs)
    };
    let outside = fails("out y: int[N]\n  y[i] = t[t[i]]", &[0, 2]);
    assert_eq!(outside.to_string(), "`t` is [2], but is read at [2] without a guard");
    assert_eq!(fails("out y: int[N]\n  y[t[i]] over i = 1", &[0, 2]).to_string(), "`y` is [2], but is written at [2]");
    assert_eq!(fails("out y: int[N]\n  y[t[i]] over i = 1", &[1, 1]).to_string(), "`y` is written twice at [1]");
    assert_eq!(fails("out y: int[2]\n  y[0] over = 1", &[]).to_string(), "`y` is not written everywhere");
    assert_eq!(fails("out y: int[N - 3]\n  y[i] = 1", &[1]).to_string(), "the extent of `y` is -2");
    assert_eq!(fails("out y: int[1000000, N]\n  y[0, i] = 1", &[0; 99]), EvalError::Large);
}

#[test]
fn extents_come_from_the_arguments() {
    let k = kernel(
        "kernel k\ndim M, N\naxis i < N\narg x: float[2 * M * N + 1]\narg z: float[3, M]\nout y: int[N]\n  y[i] = M",
    );
    assert_eq!(
        run(&k, &[Value::float(&[13], vec![0.0; 13]), Value::float(&[3, 2], vec![0.0; 6])])[0].ints(),
        [2, 2, 2]
    );
    let bad = eval(&k, &[Value::float(&[12], vec![0.0; 12]), Value::float(&[3, 2], vec![0.0; 6])]);
    assert_eq!(bad.expect_err("12 is odd"), EvalError::Unknown { dim: "N".into() });
    let bad = eval(&k, &[Value::float(&[13], vec![0.0; 13]), Value::float(&[4, 2], vec![0.0; 8])]);
    assert_eq!(bad.expect_err("4 is not 3").to_string(), "`z` is [3, 2], but gets [4, 2]");
}
