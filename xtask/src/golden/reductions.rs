//! Reductions, running reductions, and elements chosen by their order.

use super::activations::method;
use super::inputs::{Inputs, Stop};
use super::ops::reduction;
use super::registry::{Results, Row};
use cotangent::diff::{Pullback, Want};

/// Calls an operation that gives values and their places along `dim`.
macro_rules! extreme {
    ($inputs:ident, $plain:ident $companion:ident, $keep:ident $keep_companion:ident) => {{
        let axis = $inputs.integer("dim")?;
        if $inputs.flag("keepdim")? {
            values!($inputs, $keep, $keep_companion(axis))
        } else {
            values!($inputs, $plain, $companion(axis))
        }
    }};
}

/// Calls a method of `in.x` that gives values and their places, in its plain form and as its companion.
macro_rules! values {
    ($inputs:ident, $plain:ident, $companion:ident($($arg:expr),*)) => {{
        let x = $inputs.float("in.x")?;
        let mut results = Results::new();
        let (values, places) = x.clone().$plain($($arg),*);
        results.out("values", values);
        results.places("indices", places);
        let ((values, places), pullback) = x.$companion($($arg,)* Want::ALL);
        results.out("values", values);
        results.places("indices", places);
        results.grad("in.x", pullback.pull(($inputs.ct("values")?, ()), &mut ()).0);
        Ok(results)
    }};
}

pub(super) use values;

pub(super) const ROWS: &[Row] = &[
    ("amin", |i| reduction!(i, amin amin__vjp, amin_keepdim amin_keepdim__vjp)),
    ("prod", |i| reduction!(i, prod prod__vjp, prod_keepdim prod_keepdim__vjp)),
    ("logsumexp", |i| reduction!(i, logsumexp logsumexp__vjp, logsumexp_keepdim logsumexp_keepdim__vjp)),
    ("var", variance),
    ("norm", norm),
    ("cumsum", |i| method!(i, cumsum, cumsum__vjp(i.integer("dim")?))),
    ("cumprod", |i| method!(i, cumprod, cumprod__vjp(i.integer("dim")?))),
    ("max", |i| extreme!(i, max_dim max_dim__vjp, max_dim_keepdim max_dim_keepdim__vjp)),
    ("sort", |i| values!(i, sort, sort__vjp(i.integer("dim")?, i.flag("descending")?))),
    ("topk", top),
    ("min", |i| extreme!(i, min_dim min_dim__vjp, min_dim_keepdim min_dim_keepdim__vjp)),
];

fn top(i: &Inputs<'_>) -> Result<Results, Stop> {
    let k = i.integer("k")?.unsigned_abs();
    values!(i, topk, topk__vjp(k, i.integer("dim")?, i.flag("largest")?, true))
}

fn variance(i: &Inputs<'_>) -> Result<Results, Stop> {
    let correction = i.number("correction")?;
    match (i.flag("keepdim")?, i.integers("dim")?) {
        (false, None) => method!(i, var_with, var_with__vjp(.., correction)),
        (false, Some(axes)) => method!(i, var_with, var_with__vjp(&axes, correction)),
        (true, None) => method!(i, var_with_keepdim, var_with_keepdim__vjp(.., correction)),
        (true, Some(axes)) => method!(i, var_with_keepdim, var_with_keepdim__vjp(&axes, correction)),
    }
}

fn norm(i: &Inputs<'_>) -> Result<Results, Stop> {
    let p = match i.word("p") {
        Ok("inf") => f64::INFINITY,
        Ok("-inf") => f64::NEG_INFINITY,
        _ => i.number("p")?,
    };
    match (i.flag("keepdim")?, i.integers("dim")?) {
        (false, None) => method!(i, norm, norm__vjp(p, ..)),
        (false, Some(axes)) => method!(i, norm, norm__vjp(p, &axes)),
        (true, None) => method!(i, norm_keepdim, norm_keepdim__vjp(p, ..)),
        (true, Some(axes)) => method!(i, norm_keepdim, norm_keepdim__vjp(p, &axes)),
    }
}
