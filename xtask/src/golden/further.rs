//! Operations on floats that other groups lack, for cases made at random (`benches/peers/random_calls.py`).

use super::activations::method;
use super::elementwise::pair;
use super::inputs::{Inputs, Stop};
use super::ops::reduction;
use super::reductions::values;
use super::registry::{Results, Row};
use cotangent::diff::{Pullback, Want};
use cotangent::ops::Reduce;
use cotangent::{Float, Int, Tensor};

/// Calls a method of `in.x` that gives a tensor without a derivative.
macro_rules! plain {
    ($inputs:ident, $record:ident, $method:ident($($arg:expr),*)) => {{
        let mut results = Results::new();
        results.$record("y", $inputs.float("in.x")?.$method($($arg),*));
        Ok(results)
    }};
    ($inputs:ident, $record:ident, $method:ident of both) => {{
        let mut results = Results::new();
        results.$record("y", $inputs.float("in.a")?.$method($inputs.float("in.b")?));
        Ok(results)
    }};
}

pub(super) const ROWS: &[Row] = &[
    ("tanh", |i| method!(i, tanh, tanh__vjp())),
    ("sigmoid", |i| method!(i, sigmoid, sigmoid__vjp())),
    ("asinh", |i| method!(i, asinh, asinh__vjp())),
    ("acosh", |i| method!(i, acosh, acosh__vjp())),
    ("atanh", |i| method!(i, atanh, atanh__vjp())),
    ("erfc", |i| method!(i, erfc, erfc__vjp())),
    ("erfinv", |i| method!(i, erfinv, erfinv__vjp())),
    ("lgamma", |i| method!(i, lgamma, lgamma__vjp())),
    ("digamma", |i| method!(i, digamma, digamma__vjp())),
    ("frac", |i| method!(i, frac, frac__vjp())),
    ("sinc", |i| method!(i, sinc, sinc__vjp())),
    ("logit", |i| method!(i, logit, logit__vjp())),
    ("deg2rad", |i| method!(i, deg2rad, deg2rad__vjp())),
    ("rad2deg", |i| method!(i, rad2deg, rad2deg__vjp())),
    ("nan_to_num", |i| method!(i, nan_to_num, nan_to_num__vjp())),
    ("hardshrink", |i| method!(i, hardshrink, hardshrink__vjp(i.number("lambd")?))),
    ("softshrink", |i| method!(i, softshrink, softshrink__vjp(i.number("lambd")?))),
    ("tanhshrink", |i| method!(i, tanhshrink, tanhshrink__vjp())),
    ("relu", |i| method!(i, relu, relu__vjp())),
    ("softmax", |i| method!(i, softmax, softmax__vjp(i.integer("dim")?))),
    ("log_softmax", |i| method!(i, log_softmax, log_softmax__vjp(i.integer("dim")?))),
    ("remainder", |i| pair!(i, remainder, remainder__vjp)),
    ("fmod", |i| pair!(i, fmod, fmod__vjp)),
    ("hypot", |i| pair!(i, hypot, hypot__vjp)),
    ("copysign", |i| pair!(i, copysign, copysign__vjp)),
    ("logaddexp", |i| pair!(i, logaddexp, logaddexp__vjp)),
    ("xlogy", |i| pair!(i, xlogy, xlogy__vjp)),
    ("floor_divide", |i| plain!(i, out, floor_divide of both)),
    ("eq", |i| plain!(i, truths, eq of both)),
    ("ne", |i| plain!(i, truths, ne of both)),
    ("lt", |i| plain!(i, truths, lt of both)),
    ("le", |i| plain!(i, truths, le of both)),
    ("gt", |i| plain!(i, truths, gt of both)),
    ("ge", |i| plain!(i, truths, ge of both)),
    ("isnan", |i| plain!(i, truths, isnan())),
    ("isinf", |i| plain!(i, truths, isinf())),
    ("isfinite", |i| plain!(i, truths, isfinite())),
    ("signbit", |i| plain!(i, truths, signbit())),
    ("lerp", lerp),
    ("std", |i| match (i.flag("keepdim")?, i.integers("dim")?, i.number("correction")?) {
        (false, None, c) => method!(i, std_with, std_with__vjp(.., c)),
        (false, Some(axes), c) => method!(i, std_with, std_with__vjp(&axes, c)),
        (true, None, c) => method!(i, std_with_keepdim, std_with_keepdim__vjp(.., c)),
        (true, Some(axes), c) => method!(i, std_with_keepdim, std_with_keepdim__vjp(&axes, c)),
    }),
    ("nansum", |i| reduction!(i, nansum nansum__vjp, nansum_keepdim nansum_keepdim__vjp)),
    ("nanmean", |i| reduction!(i, nanmean nanmean__vjp, nanmean_keepdim nanmean_keepdim__vjp)),
    ("argmax", |i| plain!(i, places, argmax(i.integers("dim")?.unwrap_or_default()))),
    ("argmin", |i| plain!(i, places, argmin(i.integers("dim")?.unwrap_or_default()))),
    ("any", |i| plain!(i, truths, any(i.integers("dim")?.unwrap_or_default()))),
    ("all", |i| plain!(i, truths, all(i.integers("dim")?.unwrap_or_default()))),
    ("count_nonzero", |i| plain!(i, places, count_nonzero(i.integers("dim")?.unwrap_or_default()))),
    ("median", |i| values!(i, median, median__vjp(i.integer("dim")?))),
    ("kthvalue", |i| values!(i, kthvalue, kthvalue__vjp(i.integer("k")?.unsigned_abs(), i.integer("dim")?))),
    ("cummax", |i| values!(i, cummax, cummax__vjp(i.integer("dim")?))),
    ("cummin", |i| values!(i, cummin, cummin__vjp(i.integer("dim")?))),
    ("logcumsumexp", |i| method!(i, logcumsumexp, logcumsumexp__vjp(i.integer("dim")?))),
    ("argsort", |i| plain!(i, places, argsort(i.integer("dim")?, i.flag("descending")?))),
    ("unique", |i| plain!(i, out, unique())),
    ("nonzero", |i| plain!(i, places, nonzero())),
    ("histc", |i| {
        let bins = i.integer("bins")?.unsigned_abs();
        plain!(i, out, histc(bins, i.number("min")?, i.number("max")?))
    }),
    ("searchsorted", |i| {
        let mut results = Results::new();
        let sorted = i.float("in.x")?;
        results.places("y", sorted.searchsorted(i.float("in.values")?, i.flag("right")?));
        Ok(results)
    }),
    ("isin", |i| plain!(i, truths, isin of both)),
    ("transpose", |i| method!(i, transpose, transpose__vjp(i.integer("dim0")?, i.integer("dim1")?))),
    ("movedim", |i| method!(i, movedim, movedim__vjp(i.integer("source")?, i.integer("destination")?))),
    ("repeat", |i| method!(i, repeat, repeat__vjp(i.integers("repeats")?.unwrap_or_default()))),
    ("tile", |i| method!(i, tile, tile__vjp(i.integers("dims")?.unwrap_or_default()))),
    ("repeat_interleave", |i| {
        method!(i, repeat_interleave, repeat_interleave__vjp(i.integer("dim")?, i.integer("repeats")?.unsigned_abs()))
    }),
    ("unfold", |i| {
        let [size, step] = [i.integer("size")?, i.integer("step")?].map(isize::unsigned_abs);
        method!(i, unfold, unfold__vjp(i.integer("dim")?, size, step))
    }),
    ("rot90", |i| method!(i, rot90, rot90__vjp(i.integer("k")?, i.integers("dims")?.unwrap_or_default()))),
    ("diag", |i| method!(i, diag, diag__vjp(i.integer("diagonal")?))),
    ("diagonal", |i| method!(i, diagonal, diagonal__vjp(i.integer("offset")?, i.integer("dim1")?, i.integer("dim2")?))),
    ("diag_embed", |i| {
        method!(i, diag_embed, diag_embed__vjp(i.integer("offset")?, i.integer("dim1")?, i.integer("dim2")?))
    }),
    ("narrow", |i| {
        let [start, length] = [i.integer("start")?, i.integer("length")?].map(isize::unsigned_abs);
        method!(i, narrow, narrow__vjp(i.integer("dim")?, start, length))
    }),
    ("select", |i| method!(i, select, select__vjp(i.integer("dim")?, i.integer("index")?))),
    ("reshape", |i| method!(i, reshape, reshape__vjp(i.integers("shape")?.unwrap_or_default()))),
    ("take_along_dim", |i| {
        let index = i.int("in.index")?;
        method!(i, take_along_dim, take_along_dim__vjp(index.clone(), i.integer("dim")?))
    }),
    ("masked_fill", |i| {
        let (mask, value) = (i.mask("in.mask")?, i.number("value")?);
        method!(i, masked_fill, masked_fill__vjp(mask.clone(), value))
    }),
    ("masked_select", |i| {
        let mask = i.mask("in.mask")?;
        method!(i, masked_select, masked_select__vjp(mask.clone()))
    }),
    ("scatter", |i| put(i, |x, axis, index, src| x.scatter(axis, index, src))),
    ("index_add", |i| put(i, |x, axis, index, src| x.index_add(axis, index, src))),
    ("index_copy", |i| put(i, |x, axis, index, src| x.index_copy(axis, index, src))),
    ("scatter_reduce", |i| {
        let reduce = match i.word("reduce")? {
            "sum" => Reduce::Sum,
            "prod" => Reduce::Prod,
            "mean" => Reduce::Mean,
            "amax" => Reduce::Amax,
            "amin" => Reduce::Amin,
            _ => return Err(i.missing("reduce")),
        };
        let include = i.flag("include_self")?;
        put(i, |x, axis, index, src| x.scatter_reduce(axis, index, src, reduce, include))
    }),
];

/// Calls an operation that puts the elements of `in.src` into `in.x` at `in.index` along `dim`.
fn put(
    i: &Inputs<'_>,
    of: impl FnOnce(Tensor<Float>, isize, Tensor<Int>, Tensor<Float>) -> Tensor<Float>,
) -> Result<Results, Stop> {
    let mut results = Results::new();
    results.out("y", of(i.float("in.x")?, i.integer("dim")?, i.int("in.index")?, i.float("in.src")?));
    Ok(results)
}

fn lerp(i: &Inputs<'_>) -> Result<Results, Stop> {
    let (a, b, weight) = (i.float("in.a")?, i.float("in.b")?, i.float("in.weight")?);
    let mut results = Results::new();
    results.out("y", a.clone().lerp(b.clone(), weight.clone()));
    let (y, pullback) = a.lerp__vjp(b, weight, Want::ALL);
    results.out("y", y);
    let (a, b, weight): (Option<Tensor>, Option<Tensor>, Option<Tensor>) =
        Pullback::pull(pullback, i.ct("y")?, &mut ());
    results.grad("in.a", a);
    results.grad("in.b", b);
    results.grad("in.weight", weight);
    Ok(results)
}
