//! Tests of the shape engine.

mod attention;
mod bind;
mod budget;
mod call;
mod check;
mod dim;
mod fields;
mod parts;
mod random;
mod rules;
mod window;

use super::*;

/// A scope of a model with dims `C`, `H` and a method that names `B`, `T`, `N` and leading axes `R`.
const SCOPE: Scope = Scope { model: &["C", "H"], local: &["B", "T", "N", "R"] };
const C: Dim = Dim::sym(0);
const H: Dim = Dim::sym(1);
const B: Dim = Dim::sym(2);
const T: Dim = Dim::sym(3);
const N: Dim = Dim::sym(4);
const ANY: Dim = Dim::UNKNOWN;

const fn l(value: i64) -> Dim {
    Dim::lit(value)
}

fn of(dims: &[Dim]) -> Shape {
    Shape::of(dims)
}

/// `[R.., dims]`.
fn rest(dims: &[Dim]) -> Shape {
    Shape::with_rest("R", &SCOPE, dims)
}

/// `[.., dims]`.
fn dots(dims: &[Dim]) -> Shape {
    Shape::with_rest("", &SCOPE, dims)
}

/// A dim as it is printed.
fn show(dim: Dim) -> String {
    Message::EMPTY.dim(&dim, &SCOPE).as_str().into()
}

/// A shape as it is printed.
fn show_shape(shape: &Shape) -> String {
    Message::EMPTY.shape(shape, &SCOPE).as_str().into()
}

/// A step in a line: `= [B, C]` where it is proved, `? [B, ?]` where it is undecided, else the mistake in words.
fn say(op: &str, step: Step) -> String {
    match step.verdict {
        Verdict::Proved => format!("= {}", show_shape(&step.shape)),
        Verdict::Undecided => format!("? {}", show_shape(&step.shape)),
        Verdict::Failed => explain(op, &step, &SCOPE).as_str().into(),
    }
}
