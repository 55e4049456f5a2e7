//! Entries looked up and put by number and by mask.

use super::axis::{Place, missing, place_of};
use super::elementwise::{alike, broadcast, broadcast_first, meet};
use super::{Plain, Shape, argument, covers, input, number};
use crate::shape::dim::Dim;
use crate::shape::step::{Fail, Step, Verdict};

/// `[x, index]`, `gather(axis)`: the shape of the index, which lies beside `x` along the axis.
pub const fn gather(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    let index = input(inputs, 1);
    let step = beside(inputs, plain);
    if step.failed() { step } else { Step { shape: index, ..step } }
}

/// `[x, index, src]`, `scatter(axis)`: the shape of `x`; the index lies beside it, and `src` is no shorter.
pub const fn scatter(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    let (x, needed, given) = (input(inputs, 0), input(inputs, 1), input(inputs, 2));
    let step = beside(inputs, plain);
    if step.failed() {
        return step;
    }
    let fail = Fail::Short { given, needed };
    if needed.full() && given.full() && needed.len() != given.len() {
        return Step::mistake(fail);
    }
    let (mut back, mut proved) = (0, needed.full() && given.full());
    while back < needed.len() && back < given.len() {
        if needed.last(back).exceeds(&given.last(back)) {
            return Step::mistake(fail);
        }
        proved = proved && covers(&given.last(back), &needed.last(back));
        back += 1;
    }
    let step = Step { shape: x, ..step };
    if proved { step } else { step.doubt(if needed.known() && given.known() { fail } else { Fail::None }) }
}

/// `[x, index]`, `index_select(axis)`: as many entries as the index, a vector, has numbers.
pub const fn index_select(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    entries(inputs, plain)
}

/// `[x, index]`, `index_fill(axis)`: the shape of `x`.
pub const fn index_fill(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    let step = entries(inputs, plain);
    if step.failed() { step } else { Step { shape: input(inputs, 0), ..step } }
}

/// `[x, index, src]`, `index_add(axis)`: the shape of `x`; `src` has an entry for each number of the index.
pub const fn index_put(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    let (x, given) = (input(inputs, 0), input(inputs, 2));
    let step = entries(inputs, plain);
    if step.failed() {
        return step;
    }
    let needed = step.shape;
    let step = Step { shape: x, ..step };
    match alike(&needed, &given, None).0 {
        Verdict::Proved => step,
        Verdict::Undecided => {
            let told = needed.known() && given.known();
            step.doubt(if told { Fail::Short { given, needed } } else { Fail::None })
        }
        Verdict::Failed => Step::mistake(Fail::Short { given, needed }),
    }
}

/// `[x, index]`, `take`: the shape of the index.
pub const fn take(inputs: &[Shape], _plain: &[Plain], _out: usize) -> Step {
    let index = input(inputs, 1);
    if index.known() { Step::proof(index) } else { Step::UNKNOWN }
}

/// `[x, index]`, `take_along_dim(axis)`: both broadcast but for the axis, which is that of the index.
pub const fn take_along_dim(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    let (x, index) = (input(inputs, 0), input(inputs, 1));
    let axis = match place_of(&argument(plain, 0), &x, 0) {
        Place::At(axis) => axis,
        Place::Unknown => return Step::UNKNOWN,
        Place::Missing(axis) => return missing(axis, &x),
    };
    let fail = Fail::Beside { shape: x, index, axis };
    if x.full() && index.full() && x.len() != index.len() {
        return Step::mistake(fail);
    }
    if !x.full() || !index.full() {
        return Step::UNKNOWN;
    }
    let one = Dim::lit(1);
    let met = meet(&x.with(axis, one), &index.with(axis, one));
    let shape = met.shape.with(axis, index.axis(axis));
    match met.verdict {
        Verdict::Proved => Step::proof(shape),
        Verdict::Undecided => Step::guess(shape).doubt(if met.told { fail } else { Fail::None }),
        Verdict::Failed => Step::mistake(fail),
    }
}

/// `[x, mask]`, `masked_select`: a vector of which only the run knows the length.
pub const fn masked_select(inputs: &[Shape], _plain: &[Plain], _out: usize) -> Step {
    let step = broadcast(inputs, &[], 0);
    if step.failed() { step } else { Step::guess(Shape::of(&[Dim::UNKNOWN])) }
}

/// `[x, mask, src]`, `masked_scatter`: the shape of `x`, into which the mask broadcasts.
pub const fn masked_scatter(inputs: &[Shape], _plain: &[Plain], _out: usize) -> Step {
    broadcast_first(&[input(inputs, 0), input(inputs, 1)], &[], 0).doubt(Fail::None)
}

/// `one_hot(classes)`: a last axis of so many.
pub const fn one_hot(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    let shape = input(inputs, 0);
    let classes = number(&argument(plain, 0));
    if shape.known() { Step::guess(shape.push(classes)) } else { Step::UNKNOWN }
}

/// `x` with the axis as long as the index.
const fn entries(inputs: &[Shape], plain: &[Plain]) -> Step {
    let (x, index) = (input(inputs, 0), input(inputs, 1));
    if index.len() > 1 {
        return Step::mistake(Fail::Rank { shape: index, least: 0, most: 1 });
    }
    match place_of(&argument(plain, 0), &x, 0) {
        Place::At(axis) => {
            let count = if index.full() && index.is_empty() { Dim::lit(1) } else { index.axis(0) };
            // Whether the numbers are in the axis, only the run can tell.
            Step::guess(x.with(axis, count))
        }
        Place::Unknown => Step::UNKNOWN,
        Place::Missing(axis) => missing(axis, &x),
    }
}

/// Whether positions have as many axes as `x`, and are no longer but for the axis.
const fn beside(inputs: &[Shape], plain: &[Plain]) -> Step {
    let (shape, index) = (input(inputs, 0), input(inputs, 1));
    let axis = match place_of(&argument(plain, 0), &shape, 0) {
        Place::At(axis) => axis,
        Place::Unknown => return Step::UNKNOWN,
        Place::Missing(axis) => return missing(axis, &shape),
    };
    let fail = Fail::Beside { shape, index, axis };
    if shape.full() && index.full() && shape.len() != index.len() {
        return Step::mistake(fail);
    }
    let (mut step, mut back) = (Step::guess(shape), 0);
    while back < shape.len() && back < index.len() {
        let other = shape.len() - 1 - back != axis;
        let (extent, wanted) = (shape.last(back), index.last(back));
        if other && wanted.exceeds(&extent) {
            return Step::mistake(fail);
        }
        if other && !covers(&extent, &wanted) {
            step = step.doubt(if extent.known() && wanted.known() { fail } else { Fail::None });
        }
        back += 1;
    }
    step
}
