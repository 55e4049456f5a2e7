//! The same elements under another shape.

use super::axis::{Axes, Place, axes_of, missing, place_of};
use super::{Plain, Shape, argument, input};
use crate::shape::dim::Dim;
use crate::shape::shape::Rest;
use crate::shape::step::{Fail, Step};

/// The shape that is asked for, with as many elements; one `-1` stands for what is left.
pub const fn reshape(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    let from = input(inputs, 0);
    let to = match argument(plain, 0) {
        Plain::List { len, dims } => Shape::of(dims.split_at(len as usize).0),
        Plain::Dim(dim) => Shape::of(&[dim]),
        Plain::All | Plain::Entry(_) | Plain::Text(_) | Plain::Unknown => return Step::UNKNOWN,
    };
    let (mut hole, mut rest, mut i) = (None, Dim::lit(1), 0);
    while i < to.len() {
        if !to.axis(i).is(-1) {
            rest = rest.mul(to.axis(i));
        } else if hole.is_none() {
            hole = Some(i);
        } else {
            return Step::mistake(Fail::Holes { to });
        }
        i += 1;
    }
    let numel = from.numel();
    let Some(hole) = hole else {
        return if numel.same(&rest) {
            Step::proof(to)
        } else if numel.differs(&rest) {
            Step::mistake(Fail::Elements { from, to })
        } else {
            let told = numel.known() && rest.known();
            Step::guess(to).doubt(if told { Fail::Elements { from, to } } else { Fail::None })
        };
    };
    let left = numel.div(rest);
    let shape = to.with(hole, left);
    if left.broken() {
        Step::mistake(Fail::Hole { from, to })
    } else if left.whole() {
        Step::proof(shape)
    } else {
        Step::guess(shape).doubt(if left.known() { Fail::Hole { from, to } } else { Fail::None })
    }
}

/// All axes from the given one to the last made one.
pub const fn flatten(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    let shape = input(inputs, 0);
    let start = argument(plain, 0);
    if shape.full() && shape.is_empty() {
        return Step::proof(Shape::of(&[Dim::lit(1)]));
    }
    match place_of(&start, &shape, 0) {
        Place::At(axis) => Step::proof(shape.head(shape.len() - axis).push(shape.product(axis))),
        Place::Missing(axis) => missing(axis, &shape),
        Place::Unknown => match start {
            Plain::Dim(start) if start.is(0) => Step::guess(Shape::of(&[Dim::UNKNOWN])),
            Plain::Dim(_) | Plain::List { .. } | Plain::All | Plain::Entry(_) | Plain::Text(_) | Plain::Unknown => {
                Step::UNKNOWN
            }
        },
    }
}

/// A new axis of 1 at the given place.
pub const fn unsqueeze(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    let shape = input(inputs, 0);
    let axis = argument(plain, 0);
    match place_of(&axis, &shape, 1) {
        Place::At(axis) => Step::proof(shape.insert(axis, Dim::lit(1))),
        Place::Missing(axis) => missing(axis, &shape),
        Place::Unknown => match axis {
            // Before all axes, listed or not: what is listed stays where it is.
            Plain::Dim(axis) if axis.is(0) && shape.known() => Step::guess(shape.rested(Rest::Any)),
            Plain::Dim(_) | Plain::List { .. } | Plain::All | Plain::Entry(_) | Plain::Text(_) | Plain::Unknown => {
                Step::UNKNOWN
            }
        },
    }
}

/// The shape without the given axes, which are 1; without all axes of 1 for `..`.
pub const fn squeeze(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    let shape = input(inputs, 0);
    let (set, all) = match axes_of(&argument(plain, 0), &shape) {
        Axes::Wrong(fail) => return Step::mistake(fail),
        Axes::Unknown => return Step::UNKNOWN,
        Axes::All if !shape.full() => return Step::UNKNOWN,
        Axes::All => (u32::MAX, true),
        Axes::Listed(set) => (set, false),
    };
    let (mut step, mut axis) = (Step::proof(shape), shape.len());
    while axis > 0 {
        axis -= 1;
        let extent = shape.axis(axis);
        let other = extent.differs(&Dim::lit(1));
        if set & (1 << axis) == 0 || (all && other) {
            continue;
        }
        if other {
            return Step::mistake(Fail::Squeeze { shape, axis });
        }
        if !extent.is(1) {
            // Whether the axis goes, only the run can tell.
            if all {
                return Step::UNKNOWN;
            }
            step = step.doubt(if extent.known() { Fail::Squeeze { shape, axis } } else { Fail::None });
        }
        step.shape = step.shape.remove(axis);
    }
    step
}

/// The shape that is asked for, to which axes of 1 are repeated; `-1` keeps an axis.
pub const fn expand(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    let from = input(inputs, 0);
    let to = match argument(plain, 0) {
        Plain::List { len, dims } => Shape::of(dims.split_at(len as usize).0),
        Plain::Dim(dim) => Shape::of(&[dim]),
        Plain::All | Plain::Entry(_) | Plain::Text(_) | Plain::Unknown => return Step::UNKNOWN,
    };
    if from.len() > to.len() {
        return Step::mistake(Fail::Expand { from, to, back: None });
    }
    let (mut step, mut back) = (if from.full() { Step::proof(to) } else { Step::guess(to) }, 0);
    while back < to.len() {
        let (dim, target) = (from.last(back), to.last(back));
        let place = to.len() - 1 - back;
        let fail = Fail::Expand { from, to, back: Some(back) };
        if target.is(-1) {
            if from.full() && back >= from.len() {
                return Step::mistake(fail);
            }
            step.shape = step.shape.with(place, dim);
        } else if back < from.len() && !dim.is(1) && !dim.same(&target) {
            if dim.differs(&target) {
                return Step::mistake(fail);
            }
            step = step.doubt(if dim.known() && target.known() { fail } else { Fail::None });
        }
        back += 1;
    }
    step
}
