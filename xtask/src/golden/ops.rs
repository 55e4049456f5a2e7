//! Tensor operations.

use super::activations::method;
use super::inputs::{Inputs, Stop};
use super::registry::{Results, Row};
use cotangent::Tensor;
use cotangent::diff::{Pullback, Want};
use cotangent::ops::{AddVjp, DivVjp, MulVjp, SubVjp};
use cotangent::ops::{cat, select, stack};

/// Calls an operation on `in.a` and `in.b` in its plain form and as its companion.
macro_rules! binary {
    ($inputs:ident, $plain:expr, $companion:expr) => {{
        let (a, b) = ($inputs.float("in.a")?, $inputs.float("in.b")?);
        let mut results = Results::new();
        results.out("y", $plain(a.clone(), b.clone()));
        let (y, pullback) = $companion(a, b, Want::ALL);
        results.out("y", y);
        let (ct_a, ct_b): (Option<Tensor>, Option<Tensor>) = Pullback::pull(pullback, $inputs.ct("y")?, &mut ());
        results.grad("in.a", ct_a);
        results.grad("in.b", ct_b);
        Ok(results)
    }};
}

/// Reduces over `dim`, all axes where it is `null`.
macro_rules! reduction {
    ($inputs:ident, $plain:ident $companion:ident, $keep:ident $keep_companion:ident) => {
        match ($inputs.flag("keepdim")?, $inputs.integers("dim")?) {
            (false, None) => method!($inputs, $plain, $companion(..)),
            (false, Some(axes)) => method!($inputs, $plain, $companion(&axes)),
            (true, None) => method!($inputs, $keep, $keep_companion(..)),
            (true, Some(axes)) => method!($inputs, $keep, $keep_companion(&axes)),
        }
    };
}

pub(super) use {binary, reduction};

pub(super) const ROWS: &[Row] = &[
    ("abs", |i| method!(i, abs, abs__vjp())),
    ("exp", |i| method!(i, exp, exp__vjp())),
    ("log", |i| method!(i, log, log__vjp())),
    ("sqrt", |i| method!(i, sqrt, sqrt__vjp())),
    ("rsqrt", |i| method!(i, rsqrt, rsqrt__vjp())),
    ("sin", |i| method!(i, sin, sin__vjp())),
    ("cos", |i| method!(i, cos, cos__vjp())),
    ("erf", |i| method!(i, erf, erf__vjp())),
    ("exp2", |i| method!(i, exp2, exp2__vjp())),
    ("expm1", |i| method!(i, expm1, expm1__vjp())),
    ("log1p", |i| method!(i, log1p, log1p__vjp())),
    ("log2", |i| method!(i, log2, log2__vjp())),
    ("log10", |i| method!(i, log10, log10__vjp())),
    ("neg", |i| method!(i, neg, neg__vjp())),
    ("square", |i| method!(i, square, square__vjp())),
    ("reciprocal", |i| method!(i, reciprocal, reciprocal__vjp())),
    ("tan", |i| method!(i, tan, tan__vjp())),
    ("sinh", |i| method!(i, sinh, sinh__vjp())),
    ("cosh", |i| method!(i, cosh, cosh__vjp())),
    ("asin", |i| method!(i, asin, asin__vjp())),
    ("acos", |i| method!(i, acos, acos__vjp())),
    ("atan", |i| method!(i, atan, atan__vjp())),
    ("sign", |i| method!(i, sign, sign__vjp())),
    ("floor", |i| method!(i, floor, floor__vjp())),
    ("ceil", |i| method!(i, ceil, ceil__vjp())),
    ("round", |i| method!(i, round, round__vjp())),
    ("trunc", |i| method!(i, trunc, trunc__vjp())),
    ("pow_scalar", |i| method!(i, powf, powf__vjp(i.number("exponent")?))),
    ("add", |i| binary!(i, |a, b| a + b, AddVjp::add__vjp)),
    ("sub", |i| binary!(i, |a, b| a - b, SubVjp::sub__vjp)),
    ("mul", |i| binary!(i, |a, b| a * b, MulVjp::mul__vjp)),
    ("div", |i| binary!(i, |a, b| a / b, DivVjp::div__vjp)),
    ("matmul", |i| binary!(i, Tensor::matmul, Tensor::matmul__vjp)),
    ("sum", |i| reduction!(i, sum sum__vjp, sum_keepdim sum_keepdim__vjp)),
    ("mean", |i| reduction!(i, mean mean__vjp, mean_keepdim mean_keepdim__vjp)),
    ("amax", |i| reduction!(i, amax amax__vjp, amax_keepdim amax_keepdim__vjp)),
    ("permute", |i| method!(i, permute, permute__vjp(i.integers("dims")?.unwrap_or_default()))),
    ("expand", |i| method!(i, expand, expand__vjp(i.integers("sizes")?.unwrap_or_default()))),
    ("split", split),
    ("cat", concatenate),
    ("stack", pile),
    ("where", choose),
];

fn split(i: &Inputs<'_>) -> Result<Results, Stop> {
    let (x, axis) = (i.float("in.x")?, i.integer("dim")?);
    let sizes: Vec<usize> = i.integers("sizes")?.unwrap_or_default().into_iter().map(|s| s.unsigned_abs()).collect();
    let mut results = Results::new();
    for (n, part) in x.clone().split(axis, sizes.clone()).into_iter().enumerate() {
        results.out(&format!("y{n}"), part);
    }
    let (parts, pullback) = x.split__vjp(axis, sizes, Want::ALL);
    let cts = (0..parts.len()).map(|n| i.ct(&format!("y{n}"))).collect::<Result<Vec<_>, _>>()?;
    for (n, part) in parts.into_iter().enumerate() {
        results.out(&format!("y{n}"), part);
    }
    results.grad("in.x", pullback.pull(cts, &mut ()).0);
    Ok(results)
}

fn concatenate(i: &Inputs<'_>) -> Result<Results, Stop> {
    let (list, axis) = (i.list()?, i.integer("dim")?);
    let mut results = Results::new();
    results.out("y", cat(list.clone(), axis));
    let (y, pullback) = cat::vjp(list, axis, Want::ALL);
    results.out("y", y);
    gradients(pullback.pull(i.ct("y")?, &mut ()).0, &mut results);
    Ok(results)
}

fn pile(i: &Inputs<'_>) -> Result<Results, Stop> {
    let (list, axis) = (i.list()?, i.integer("dim")?);
    let mut results = Results::new();
    results.out("y", stack(list.clone(), axis));
    let (y, pullback) = stack::vjp(list, axis, Want::ALL);
    results.out("y", y);
    gradients(pullback.pull(i.ct("y")?, &mut ()).0, &mut results);
    Ok(results)
}

fn gradients(cts: Vec<Option<Tensor>>, results: &mut Results) {
    for (n, ct) in cts.into_iter().enumerate() {
        results.grad(&format!("in.x{n}"), ct);
    }
}

fn choose(i: &Inputs<'_>) -> Result<Results, Stop> {
    let (cond, a, b) = (i.mask("in.cond")?, i.float("in.a")?, i.float("in.b")?);
    let mut results = Results::new();
    results.out("y", select(cond.clone(), a.clone(), b.clone()));
    let (y, pullback) = select::vjp(cond, a, b, Want::ALL);
    results.out("y", y);
    let ((), ct_a, ct_b) = pullback.pull(i.ct("y")?, &mut ());
    results.grad("in.a", ct_a);
    results.grad("in.b", ct_b);
    Ok(results)
}
