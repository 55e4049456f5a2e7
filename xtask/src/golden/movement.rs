//! Other orders of the same elements, borders, and elements by position.

use super::activations::method;
use super::inputs::{Inputs, Stop};
use super::registry::{Results, Row};
use cotangent::diff::{Pullback, Want};
use cotangent::ops::PadMode;

pub(super) const ROWS: &[Row] = &[
    ("flip", |i| method!(i, flip, flip__vjp(i.integers("dims")?.unwrap_or_default()))),
    ("tril", |i| method!(i, tril, tril__vjp(i.integer("diagonal")?))),
    ("triu", |i| method!(i, triu, triu__vjp(i.integer("diagonal")?))),
    ("roll", roll),
    ("pad", pad),
    ("gather", gather),
    ("index_select", index_select),
    ("scatter_add", scatter_add),
];

fn roll(i: &Inputs<'_>) -> Result<Results, Stop> {
    let [shifts, dims] = [i.integers("shifts")?, i.integers("dims")?].map(Option::unwrap_or_default);
    method!(i, roll, roll__vjp(&shifts, &dims))
}

fn pad(i: &Inputs<'_>) -> Result<Results, Stop> {
    let widths = i.integers("pad")?.unwrap_or_default();
    let value = i.maybe_number("value")?;
    let mode = match i.word("mode")? {
        "constant" => return method!(i, pad, pad__vjp(&widths, value.unwrap_or(0.0))),
        "reflect" => PadMode::Reflect,
        "replicate" => PadMode::Replicate,
        "circular" => PadMode::Circular,
        _ => return Err(i.missing("mode")),
    };
    method!(i, pad_with, pad_with__vjp(&widths, mode))
}

fn gather(i: &Inputs<'_>) -> Result<Results, Stop> {
    let (axis, index) = (i.integer("dim")?, i.int("in.index")?);
    method!(i, gather, gather__vjp(axis, index.clone()))
}

fn index_select(i: &Inputs<'_>) -> Result<Results, Stop> {
    let (axis, index) = (i.integer("dim")?, i.int("in.index")?);
    method!(i, index_select, index_select__vjp(axis, index.clone()))
}

fn scatter_add(i: &Inputs<'_>) -> Result<Results, Stop> {
    let (axis, index) = (i.integer("dim")?, i.int("in.index")?);
    let (x, src) = (i.float("in.x")?, i.float("in.src")?);
    let mut results = Results::new();
    results.out("y", x.clone().scatter_add(axis, index.clone(), src.clone()));
    let (y, pullback) = x.scatter_add__vjp(axis, index, src, Want::ALL);
    results.out("y", y);
    let (x, (), (), src) = pullback.pull(i.ct("y")?, &mut ());
    results.grad("in.x", x);
    results.grad("in.src", src);
    Ok(results)
}
