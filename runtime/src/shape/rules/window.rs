//! Convolutions and pools: what moves over the last axes, and what it leaves of them.

use super::{Plain, Shape, argument, covers, input, number};
use crate::shape::dim::Dim;
use crate::shape::step::{Fail, Step};

/// `[x, weight, bias]`, `conv1d(stride, padding, dilation, groups)`: `[N, C, L], [O, C / groups, K] -> [N, O, OL]`.
pub const fn conv1d(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    convolution(inputs, plain, 1)
}

/// As [`conv1d`] over two axes.
pub const fn conv2d(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    convolution(inputs, plain, 2)
}

/// `[x, weight, bias]`, `conv_transpose1d(stride, padding, output_padding, groups, dilation)`: `[N, C, L],
/// [C, O / groups, K] -> [N, O, OL]`.
pub const fn conv_transpose1d(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    transposed(inputs, plain, 1)
}

/// As [`conv_transpose1d`] over two axes.
pub const fn conv_transpose2d(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    transposed(inputs, plain, 2)
}

/// `max_pool1d(kernel, stride, padding, dilation, ceil_mode)`: windows over the last axis.
pub const fn max_pool1d(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    pooled(inputs, plain, 1, argument_or(plain, 3, 1), argument_or(plain, 4, 0))
}

/// As [`max_pool1d`] over the last two axes.
pub const fn max_pool2d(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    pooled(inputs, plain, 2, argument_or(plain, 3, 1), argument_or(plain, 4, 0))
}

/// `avg_pool1d(kernel, stride, padding, ceil_mode, ..)`: windows over the last axis.
pub const fn avg_pool1d(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    pooled(inputs, plain, 1, Plain::dim(Dim::lit(1)), argument_or(plain, 3, 0))
}

/// As [`avg_pool1d`] over the last two axes.
pub const fn avg_pool2d(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    pooled(inputs, plain, 2, Plain::dim(Dim::lit(1)), argument_or(plain, 3, 0))
}

/// `adaptive_avg_pool1d(size)`: the last axis has another extent.
pub const fn adaptive_pool1d(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    adapted(inputs, plain, 1)
}

/// As [`adaptive_pool1d`] of the last two axes.
pub const fn adaptive_pool2d(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    adapted(inputs, plain, 2)
}

/// `[x, weight, bias]`: the shape of `x`, then the mean and the variance of each entry of axis 1.
pub const fn batch_norm(inputs: &[Shape], _plain: &[Plain], out: usize) -> Step {
    let step = channelled(inputs, 1);
    let x = input(inputs, 0);
    if step.failed() || out == 0 || x.len() < 2 || !x.full() {
        return step;
    }
    Step { shape: Shape::of(&[x.axis(1)]), ..step }
}

/// `[x, mean, var, weight, bias]`: the shape of `x`, whose axis 1 all others have.
pub const fn normalized_by(inputs: &[Shape], _plain: &[Plain], _out: usize) -> Step {
    channelled(inputs, 1)
}

/// The first shape, where all others are vectors as long as its axis.
const fn channelled(inputs: &[Shape], axis: usize) -> Step {
    let x = input(inputs, 0);
    if x.full() && x.len() < 2 {
        return Step::mistake(Fail::Rank { shape: x, least: 2, most: usize::MAX });
    }
    if !x.full() {
        return Step::guess(x);
    }
    let (mut step, mut i) = (Step::proof(x), 1);
    while i < inputs.len() {
        match vector("parameter", &inputs[i], &x, axis, &x.axis(axis)) {
            Ok(true) => {}
            Ok(false) => step = step.doubt(Fail::None),
            Err(fail) => return Step::mistake(fail),
        }
        i += 1;
    }
    step
}

const fn convolution(inputs: &[Shape], plain: &[Plain], axes: usize) -> Step {
    let Operands { x, weight, groups } = match operands(inputs, plain, axes) {
        Ok(operands) => operands,
        Err(step) => return step,
    };
    let (needs, given) = (x.axis(1).div(groups), weight.axis(1));
    if weight.axis(1).mul(groups).differs(&x.axis(1)) {
        return Step::mistake(Fail::Filters { input: x, weight, axis: 1, needs });
    }
    if let Some(fail) = groups_fail(&weight, 0, &groups) {
        return Step::mistake(fail);
    }
    let mut step = Step::proof(Shape::of(&[x.axis(0), weight.axis(0)]));
    if !given.same(&needs) || !divides(&groups, &weight.axis(0)) {
        step = step.doubt(Fail::None);
    }
    match vector("bias", &input(inputs, 2), &weight, 0, &weight.axis(0)) {
        Ok(_) => {}
        Err(fail) => return Step::mistake(fail),
    }
    let mut i = 0;
    while i < axes {
        let (stride, padding) = (size(&argument_or(plain, 0, 1), i, axes), size(&argument_or(plain, 1, 0), i, axes));
        let dilation = size(&argument_or(plain, 2, 1), i, axes);
        let reach = reach(&weight.axis(2 + i), dilation);
        let padded = x.axis(2 + i).add(padding.mul(Dim::lit(2)));
        if reach.exceeds(&padded) {
            return Step::mistake(Fail::Window { shape: x, axis: 2 + i, reach, padded });
        }
        let extent = padded.sub(reach).floor_div(stride).add(Dim::lit(1));
        step.shape = step.shape.push(extent);
        if !extent.known() || !covers(&padded, &reach) {
            step = step.doubt(Fail::None);
        }
        i += 1;
    }
    step
}

const fn transposed(inputs: &[Shape], plain: &[Plain], axes: usize) -> Step {
    let Operands { x, weight, groups } = match operands(inputs, plain, axes) {
        Ok(operands) => operands,
        Err(step) => return step,
    };
    if weight.axis(0).differs(&x.axis(1)) {
        return Step::mistake(Fail::Filters { input: x, weight, axis: 0, needs: x.axis(1) });
    }
    if let Some(fail) = groups_fail(&x, 1, &groups) {
        return Step::mistake(fail);
    }
    let channels = weight.axis(1).mul(groups);
    let mut step = Step::proof(Shape::of(&[x.axis(0), channels]));
    if !weight.axis(0).same(&x.axis(1)) || !divides(&groups, &x.axis(1)) {
        step = step.doubt(Fail::None);
    }
    match vector("bias", &input(inputs, 2), &weight, 1, &channels) {
        Ok(_) => {}
        Err(fail) => return Step::mistake(fail),
    }
    let mut i = 0;
    while i < axes {
        let (stride, padding) = (size(&argument_or(plain, 0, 1), i, axes), size(&argument_or(plain, 1, 0), i, axes));
        let (more, dilation) = (size(&argument_or(plain, 2, 0), i, axes), size(&argument_or(plain, 4, 1), i, axes));
        let steps = x.axis(2 + i).sub(Dim::lit(1)).mul(stride);
        let reach = reach(&weight.axis(2 + i), dilation);
        let (covered, around) = (steps.add(reach).add(more), padding.mul(Dim::lit(2)));
        if covers(&around, &covered) {
            return Step::mistake(Fail::Window { shape: x, axis: 2 + i, reach: around, padded: covered });
        }
        let extent = covered.sub(around);
        step.shape = step.shape.push(extent);
        if !extent.exceeds(&Dim::lit(0)) {
            step = step.doubt(Fail::None);
        }
        i += 1;
    }
    step
}

/// Windows over the last axes: `plain` begins with their size, stride and padding.
const fn pooled(inputs: &[Shape], plain: &[Plain], axes: usize, dilation: Plain, ceil: Plain) -> Step {
    let x = input(inputs, 0);
    if x.full() && x.len() < axes {
        return Step::mistake(Fail::Rank { shape: x, least: axes, most: usize::MAX });
    }
    if x.len() < axes {
        return Step::UNKNOWN;
    }
    let kernel = argument(plain, 0);
    let stride = if plain.len() > 1 { plain[1] } else { kernel };
    let (mut step, mut i) = (Step::proof(x), 0);
    while i < axes {
        let axis = x.len() - axes + i;
        let (kernel, stride) = (size(&kernel, i, axes), size(&stride, i, axes));
        let padding = size(&argument_or(plain, 2, 0), i, axes);
        let reach = reach(&kernel, size(&dilation, i, axes));
        let padded = x.axis(axis).add(padding.mul(Dim::lit(2)));
        if reach.exceeds(&padded) {
            return Step::mistake(Fail::Window { shape: x, axis, reach, padded });
        }
        let extent = match number(&ceil).literal() {
            Some(0) => padded.sub(reach).floor_div(stride).add(Dim::lit(1)),
            Some(_) => up(&padded.sub(reach), &stride, &x.axis(axis).add(padding)),
            None => Dim::UNKNOWN,
        };
        step.shape = step.shape.with(axis, extent);
        if !extent.known() || !covers(&padded, &reach) {
            step = step.doubt(Fail::None);
        }
        i += 1;
    }
    step
}

/// The number of windows that begin within `limit`, of those that `room` leaves rounded up.
const fn up(room: &Dim, stride: &Dim, limit: &Dim) -> Dim {
    let (Some(room), Some(stride), Some(limit)) = (room.literal(), stride.literal(), limit.literal()) else {
        return Dim::UNKNOWN;
    };
    if stride < 1 {
        return Dim::UNKNOWN;
    }
    let last = (room + stride - 1) / stride;
    Dim::lit(if last * stride >= limit { last } else { last + 1 })
}

const fn adapted(inputs: &[Shape], plain: &[Plain], axes: usize) -> Step {
    let x = input(inputs, 0);
    if x.full() && x.len() < axes {
        return Step::mistake(Fail::Rank { shape: x, least: axes, most: usize::MAX });
    }
    if x.len() < axes {
        return Step::UNKNOWN;
    }
    let (mut step, mut i) = (Step::proof(x), 0);
    while i < axes {
        let extent = size(&argument(plain, 0), i, axes);
        step.shape = step.shape.with(x.len() - axes + i, extent);
        if !extent.known() {
            step = step.doubt(Fail::None);
        }
        i += 1;
    }
    step
}

/// Images, filters and groups of a convolution either way.
struct Operands {
    x: Shape,
    weight: Shape,
    groups: Dim,
}

/// The operands, where both shapes are known; else what can be said without them.
#[allow(clippy::result_large_err, reason = "a `const fn` has no box for it, and it runs at compile time")]
const fn operands(inputs: &[Shape], plain: &[Plain], axes: usize) -> Result<Operands, Step> {
    let (x, weight, rank) = (input(inputs, 0), input(inputs, 1), axes + 2);
    if let Some(fail) = rank_fail(&x, rank) {
        return Err(Step::mistake(fail));
    }
    if let Some(fail) = rank_fail(&weight, rank) {
        return Err(Step::mistake(fail));
    }
    if !x.full() || !weight.full() {
        return Err(Step::UNKNOWN);
    }
    Ok(Operands { x, weight, groups: number(&argument_or(plain, 3, 1)) })
}

/// The mistake of a shape that cannot have that rank.
const fn rank_fail(shape: &Shape, rank: usize) -> Option<Fail> {
    if shape.len() > rank || (shape.full() && shape.len() != rank) {
        return Some(Fail::Rank { shape: *shape, least: rank, most: rank });
    }
    None
}

/// How many elements of an axis a filter or a window spans.
const fn reach(kernel: &Dim, dilation: Dim) -> Dim {
    dilation.mul(kernel.sub(Dim::lit(1))).add(Dim::lit(1))
}

/// The mistake of groups that do not divide an axis.
const fn groups_fail(shape: &Shape, axis: usize, groups: &Dim) -> Option<Fail> {
    match (shape.axis(axis).literal(), groups.literal()) {
        (Some(n), Some(g)) if g < 1 || n % g != 0 => Some(Fail::Groups { shape: *shape, axis, groups: *groups }),
        _ => None,
    }
}

const fn divides(divisor: &Dim, dim: &Dim) -> bool {
    dim.div(*divisor).whole()
}

/// Whether a shape is a vector of that length, as far as one can tell; the mistake where it is not.
#[allow(clippy::result_large_err, reason = "a `const fn` has no box for it, and it runs at compile time")]
const fn vector(what: &'static str, given: &Shape, of: &Shape, axis: usize, needs: &Dim) -> Result<bool, Fail> {
    let fail = Fail::Vector { what, given: *given, of: *of, axis, needs: *needs };
    if given.len() > 1 || (given.full() && (given.len() != 1 || given.axis(0).differs(needs))) {
        return Err(fail);
    }
    Ok(given.full() && given.axis(0).same(needs))
}

/// A plain argument, or a number where it is left out.
const fn argument_or(plain: &[Plain], i: usize, default: i64) -> Plain {
    if i < plain.len() { plain[i] } else { Plain::Dim(Dim::lit(default)) }
}

/// The size along one of so many axes.
const fn size(plain: &Plain, i: usize, axes: usize) -> Dim {
    match plain {
        Plain::Dim(dim) => *dim,
        Plain::List { len, dims } if *len as usize == axes => dims[i],
        Plain::List { .. } | Plain::All | Plain::Entry(_) | Plain::Text(_) | Plain::Unknown => Dim::UNKNOWN,
    }
}
