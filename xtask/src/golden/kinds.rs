//! Operations on integers and truth values, under the name of the kind and PyTorch's name: `int.cumsum`, `bool.any`.

use super::inputs::{Inputs, Stop};
use super::registry::{Results, Row};
use cotangent::DType;
use cotangent::ops::PadMode;

/// The result of an expression of `in.x`.
macro_rules! of {
    ($inputs:ident, $read:ident, $record:ident, |$x:ident| $y:expr) => {{
        let $x = $inputs.$read("in.x")?;
        let mut results = Results::new();
        results.$record("y", $y);
        Ok(results)
    }};
    ($inputs:ident, $read:ident, $record:ident, |$a:ident, $b:ident| $y:expr) => {{
        let ($a, $b) = ($inputs.$read("in.a")?, $inputs.$read("in.b")?);
        let mut results = Results::new();
        results.$record("y", $y);
        Ok(results)
    }};
}

/// Values and places.
macro_rules! values {
    ($inputs:ident, |$x:ident| $y:expr) => {{
        let $x = $inputs.int("in.x")?;
        let (values, places) = $y;
        let mut results = Results::new();
        results.places("values", values);
        results.places("indices", places);
        Ok(results)
    }};
}

pub(super) const ROWS: &[Row] = &[
    ("int.add", |i| of!(i, int, places, |a, b| a + b)),
    ("int.sub", |i| of!(i, int, places, |a, b| a - b)),
    ("int.mul", |i| of!(i, int, places, |a, b| a * b)),
    ("int.div", |i| of!(i, int, out, |a, b| a.div(b))),
    ("int.remainder", |i| of!(i, int, places, |a, b| a.remainder(b))),
    ("int.fmod", |i| of!(i, int, places, |a, b| a.fmod(b))),
    ("int.floor_divide", |i| of!(i, int, places, |a, b| a.floor_divide(b))),
    ("int.pow", |i| of!(i, int, places, |a, b| a.pow(b))),
    ("int.maximum", |i| of!(i, int, places, |a, b| a.maximum(b))),
    ("int.minimum", |i| of!(i, int, places, |a, b| a.minimum(b))),
    ("int.bitwise_and", |i| of!(i, int, places, |a, b| a & b)),
    ("int.bitwise_or", |i| of!(i, int, places, |a, b| a | b)),
    ("int.bitwise_xor", |i| of!(i, int, places, |a, b| a ^ b)),
    ("int.bitwise_not", |i| of!(i, int, places, |x| x.bitwise_not())),
    ("int.abs", |i| of!(i, int, places, |x| x.abs())),
    ("int.neg", |i| of!(i, int, places, |x| x.neg())),
    ("int.sign", |i| of!(i, int, places, |x| x.sign())),
    ("int.square", |i| of!(i, int, places, |x| x.square())),
    ("int.eq", |i| of!(i, int, truths, |a, b| a.eq(b))),
    ("int.lt", |i| of!(i, int, truths, |a, b| a.lt(b))),
    ("int.ge", |i| of!(i, int, truths, |a, b| a.ge(b))),
    ("int.sum", |i| of!(i, int, places, |x| x.sum(axes(i)?))),
    ("int.prod", |i| of!(i, int, places, |x| x.prod(axes(i)?))),
    ("int.amax", |i| of!(i, int, places, |x| x.amax(axes(i)?))),
    ("int.amin", |i| of!(i, int, places, |x| x.amin(axes(i)?))),
    ("int.any", |i| of!(i, int, truths, |x| x.any(axes(i)?))),
    ("int.all", |i| of!(i, int, truths, |x| x.all(axes(i)?))),
    ("int.argmax", |i| of!(i, int, places, |x| x.argmax(i.integer("dim")?))),
    ("int.argmin", |i| of!(i, int, places, |x| x.argmin(i.integer("dim")?))),
    ("int.count_nonzero", |i| of!(i, int, places, |x| x.count_nonzero(axes(i)?))),
    ("int.cumsum", |i| of!(i, int, places, |x| x.cumsum(i.integer("dim")?))),
    ("int.cumprod", |i| of!(i, int, places, |x| x.cumprod(i.integer("dim")?))),
    ("int.cummax", |i| values!(i, |x| x.cummax(i.integer("dim")?))),
    ("int.cummin", |i| values!(i, |x| x.cummin(i.integer("dim")?))),
    ("int.sort", |i| values!(i, |x| x.sort(i.integer("dim")?, i.flag("descending")?))),
    ("int.unique", |i| of!(i, int, places, |x| x.unique())),
    ("int.nonzero", |i| of!(i, int, places, |x| x.nonzero())),
    ("int.bincount", |i| of!(i, int, places, |x| x.bincount(i.integer("minlength")?.unsigned_abs()))),
    ("int.isin", |i| of!(i, int, truths, |a, b| a.isin(b))),
    ("int.one_hot", |i| of!(i, int, places, |x| x.one_hot(i.integer("num_classes")?.unsigned_abs()))),
    ("int.flip", |i| of!(i, int, places, |x| x.flip(axes(i)?))),
    ("int.roll", |i| of!(i, int, places, |x| x.roll(i.integer("shifts")?, i.integer("dims")?))),
    ("int.pad", |i| of!(i, int, places, |x| x.pad_with(pad(i)?, PadMode::Replicate))),
    ("int.tril", |i| of!(i, int, places, |x| x.tril(i.integer("diagonal")?))),
    ("int.gather", |i| of!(i, int, places, |x| x.gather(i.integer("dim")?, i.int("in.index")?))),
    ("int.index_select", |i| of!(i, int, places, |x| x.index_select(i.integer("dim")?, i.int("in.index")?))),
    ("int.scatter_add", |i| {
        of!(i, int, places, |x| x.scatter_add(i.integer("dim")?, i.int("in.index")?, i.int("in.src")?))
    }),
    ("int.masked_fill", |i| of!(i, int, places, |x| x.masked_fill(i.mask("in.mask")?, i.integer("value")? as i64))),
    ("int.masked_select", |i| of!(i, int, places, |x| x.masked_select(i.mask("in.mask")?))),
    ("int.where", |i| {
        let cond = i.mask("in.cond")?;
        of!(i, int, places, |a, b| b.mask_where(cond, a))
    }),
    ("int.to_float", |i| of!(i, int, out, |x| x.float())),
    ("int.to_bool", |i| of!(i, int, truths, |x| x.bool())),
    ("int.to", |i| of!(i, int, places, |x| x.to(dtype(i)?))),
    ("float.to_int", |i| of!(i, float, places, |x| x.int())),
    ("float.to", |i| of!(i, float, out, |x| x.to(dtype(i)?))),
    ("bool.logical_and", |i| of!(i, mask, truths, |a, b| a.logical_and(b))),
    ("bool.logical_or", |i| of!(i, mask, truths, |a, b| a.logical_or(b))),
    ("bool.logical_xor", |i| of!(i, mask, truths, |a, b| a.logical_xor(b))),
    ("bool.logical_not", |i| of!(i, mask, truths, |x| x.logical_not())),
    ("bool.eq", |i| of!(i, mask, truths, |a, b| a.eq(b))),
    ("bool.any", |i| of!(i, mask, truths, |x| x.any(axes(i)?))),
    ("bool.all", |i| of!(i, mask, truths, |x| x.all(axes(i)?))),
    ("bool.flip", |i| of!(i, mask, truths, |x| x.flip(axes(i)?))),
    ("bool.nonzero", |i| of!(i, mask, places, |x| x.nonzero())),
    ("bool.gather", |i| of!(i, mask, truths, |x| x.gather(i.integer("dim")?, i.int("in.index")?))),
    ("bool.to_int", |i| of!(i, mask, places, |x| x.int())),
];

fn axes(i: &Inputs<'_>) -> Result<Vec<isize>, Stop> {
    Ok(i.integers("dim")?.unwrap_or_default())
}

fn pad(i: &Inputs<'_>) -> Result<Vec<isize>, Stop> {
    Ok(i.integers("pad")?.unwrap_or_default())
}

fn dtype(i: &Inputs<'_>) -> Result<DType, Stop> {
    let name = i.word("dtype")?;
    DType::ALL.into_iter().find(|d| d.to_string() == name).ok_or_else(|| i.missing(name))
}
