//! Parts of tensors, tensors put together, and tensors made from sizes.

use super::axis::{Place, missing, place_of};
use super::elementwise::alike;
use super::{Plain, Shape, argument, input, number};
use crate::shape::dim::Dim;
use crate::shape::step::{Fail, Step, Verdict};

/// `narrow(axis, start, length)`: `length` entries of an axis from `start` on.
pub const fn narrow(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    let shape = input(inputs, 0);
    let (start, length) = (number(&argument(plain, 1)), number(&argument(plain, 2)));
    let axis = match place_of(&argument(plain, 0), &shape, 0) {
        Place::At(axis) => axis,
        Place::Unknown => return Step::UNKNOWN,
        Place::Missing(axis) => return missing(axis, &shape),
    };
    let (extent, end) = (shape.axis(axis), start.add(length));
    let fail = Fail::Narrow { shape, axis, start, length };
    if end.exceeds(&extent) || (!start.known() && length.exceeds(&extent)) {
        return Step::mistake(fail);
    }
    let part = shape.with(axis, length);
    if end.same(&extent) || extent.exceeds(&end) {
        Step::proof(part)
    } else {
        Step::guess(part).doubt(if end.known() && extent.known() { fail } else { Fail::None })
    }
}

/// `glu(axis)`: half of an axis, whose extent is even.
pub const fn glu(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    let shape = input(inputs, 0);
    let axis = match place_of(&argument(plain, 0), &shape, 0) {
        Place::At(axis) => axis,
        Place::Unknown => return Step::UNKNOWN,
        Place::Missing(axis) => return missing(axis, &shape),
    };
    Step::guess(shape.with(axis, shape.axis(axis).div(Dim::lit(2))))
}

/// `split(axis, sizes)`: part `out` of an axis cut into parts of these sizes.
pub const fn split(inputs: &[Shape], plain: &[Plain], out: usize) -> Step {
    let shape = input(inputs, 0);
    let axis = match place_of(&argument(plain, 0), &shape, 0) {
        Place::At(axis) => axis,
        Place::Unknown => return Step::UNKNOWN,
        Place::Missing(axis) => return missing(axis, &shape),
    };
    let Plain::List { len, dims } = argument(plain, 1) else {
        return Step::guess(shape.with(axis, Dim::UNKNOWN));
    };
    let sizes = Shape::of(dims.split_at(len as usize).0);
    let (mut total, mut i) = (Dim::lit(0), 0);
    while i < sizes.len() {
        total = total.add(sizes.axis(i));
        i += 1;
    }
    let fail = Fail::Sizes { shape, axis, sizes, total };
    if total.differs(&shape.axis(axis)) {
        return Step::mistake(fail);
    }
    let part = shape.with(axis, sizes.axis(out));
    if total.same(&shape.axis(axis)) {
        Step::proof(part)
    } else {
        Step::guess(part).doubt(if total.known() && shape.axis(axis).known() { fail } else { Fail::None })
    }
}

/// `cat([a, b, ..], axis)`: one behind the other along an axis; all other axes are equal.
pub const fn cat(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    let first = first_known(inputs);
    let axis = match place_of(&argument(plain, 0), &first, 0) {
        Place::At(axis) => axis,
        Place::Unknown => return Step::UNKNOWN,
        Place::Missing(axis) => return missing(axis, &first),
    };
    let step = all_alike(&first, inputs, Some(axis));
    if step.failed() {
        return step;
    }
    let (mut total, mut i) = (Dim::lit(0), 0);
    while i < inputs.len() {
        total = total.add(inputs[i].last(first.len() - 1 - axis));
        i += 1;
    }
    Step { shape: step.shape.with(axis, total), ..step }
}

/// `stack([a, b, ..], axis)`: equal shapes side by side along a new axis.
pub const fn stack(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    let first = first_known(inputs);
    let step = all_alike(&first, inputs, None);
    if step.failed() {
        return step;
    }
    match place_of(&argument(plain, 0), &first, 1) {
        Place::At(axis) => Step { shape: step.shape.insert(axis, Dim::lit(inputs.len() as i64)), ..step },
        Place::Unknown => Step::UNKNOWN,
        Place::Missing(axis) => missing(axis, &first),
    }
}

/// `arange(n)`: `[n]`.
pub const fn arange(_inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    let n = number(&argument(plain, 0));
    made(&[n])
}

/// `multinomial(count)`: the last axis has as many entries as are drawn.
pub const fn multinomial(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    let (shape, count) = (input(inputs, 0), number(&argument(plain, 0)));
    let wrong = shape.len() > 2 || (shape.full() && shape.is_empty());
    if wrong {
        return Step::mistake(Fail::Rank { shape, least: 1, most: 2 });
    }
    if !shape.full() {
        return Step::UNKNOWN;
    }
    let drawn = shape.with(shape.len() - 1, count);
    if count.known() { Step::proof(drawn) } else { Step::guess(drawn) }
}

/// `causal_mask(n)`: `[n, n]`.
pub const fn causal_mask(_inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    let n = number(&argument(plain, 0));
    made(&[n, n])
}

const fn made(dims: &[Dim]) -> Step {
    let shape = Shape::of(dims);
    if dims[0].known() { Step::proof(shape) } else { Step::guess(shape) }
}

const fn first_known(inputs: &[Shape]) -> Shape {
    let mut i = 0;
    while i < inputs.len() {
        if inputs[i].known() {
            return inputs[i];
        }
        i += 1;
    }
    Shape::UNKNOWN
}

/// The first shape, which all others equal apart from one axis.
const fn all_alike(first: &Shape, inputs: &[Shape], except: Option<usize>) -> Step {
    let (mut step, mut i) = (Step::proof(*first), 0);
    while i < inputs.len() {
        let (verdict, axis) = alike(first, &inputs[i], except);
        let fail = Fail::Unlike { first: *first, other: inputs[i], operand: i, axis };
        match verdict {
            Verdict::Proved => {}
            Verdict::Undecided => step = step.doubt(if inputs[i].known() { fail } else { Fail::None }),
            Verdict::Failed => return Step::mistake(fail),
        }
        i += 1;
    }
    step
}
