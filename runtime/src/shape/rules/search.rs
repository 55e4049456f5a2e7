//! The first in order, and results whose extents depend on data.

use super::axis::{Place, missing, place_of};
use super::elementwise::alike;
use super::{Plain, Shape, argument, input, number};
use crate::shape::dim::Dim;
use crate::shape::step::{Fail, Step, Verdict};

/// `topk(k, axis)`: `k` entries of an axis, of which there are as many.
pub const fn topk(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    let shape = input(inputs, 0);
    let k = number(&argument(plain, 0));
    let axis = match place_of(&argument(plain, 1), &shape, 0) {
        Place::At(axis) => axis,
        Place::Unknown => return Step::UNKNOWN,
        Place::Missing(axis) => return missing(axis, &shape),
    };
    let extent = shape.axis(axis);
    let fail = Fail::Narrow { shape, axis, start: Dim::lit(0), length: k };
    if k.exceeds(&extent) {
        return Step::mistake(fail);
    }
    let part = shape.with(axis, k);
    if k.same(&extent) || extent.exceeds(&k) {
        Step::proof(part)
    } else {
        Step::guess(part).doubt(if k.known() && extent.known() { fail } else { Fail::None })
    }
}

/// One axis, whose extent the run decides.
pub const fn some(_inputs: &[Shape], _plain: &[Plain], _out: usize) -> Step {
    Step::guess(Shape::of(&[Dim::UNKNOWN]))
}

/// Different elements, the place of each element among them, and their counts.
pub const fn unique_with(inputs: &[Shape], plain: &[Plain], out: usize) -> Step {
    let shape = input(inputs, 0);
    if out != 1 {
        return some(inputs, plain, out);
    }
    if shape.known() { Step::proof(shape) } else { Step::UNKNOWN }
}

/// `[N, rank]`, where the run decides `N`.
pub const fn nonzero(inputs: &[Shape], _plain: &[Plain], _out: usize) -> Step {
    let shape = input(inputs, 0);
    let rank = if shape.full() { Dim::lit(shape.len() as i64) } else { Dim::UNKNOWN };
    Step::guess(Shape::of(&[Dim::UNKNOWN, rank]))
}

/// `[sorted, values]`: the shape of the values.
pub const fn searchsorted(inputs: &[Shape], _plain: &[Plain], _out: usize) -> Step {
    let (sorted, values) = (input(inputs, 0), input(inputs, 1));
    if !values.known() {
        return Step::UNKNOWN;
    }
    // One row is for all values; several are one for each row of the values.
    let one = sorted.full() && sorted.len() == 1;
    if one || !sorted.known() || sorted.is_empty() || values.is_empty() {
        return Step::guess(values);
    }
    let (first, other) = (sorted.head(1), values.head(1));
    match alike(&first, &other, None) {
        (Verdict::Failed, axis) => Step::mistake(Fail::Unlike { first, other, operand: 1, axis }),
        (Verdict::Proved | Verdict::Undecided, _) => Step::guess(values),
    }
}

/// `histc(bins, min, max)`: `[bins]`.
pub const fn histc(_inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    let bins = number(&argument(plain, 0));
    let shape = Shape::of(&[bins]);
    if bins.known() { Step::proof(shape) } else { Step::guess(shape) }
}
