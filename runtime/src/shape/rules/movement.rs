//! The same elements in another order, repeated, or some of them.

use super::axis::{Axes, Place, axes_of, missing, place, place_of};
use super::elementwise::broadcast_first;
use super::part::cat;
use super::reshape::reshape;
use super::{Plain, Shape, argument, input, number};
use crate::shape::dim::Dim;
use crate::shape::step::{Fail, Step};

/// `flip(axes)`: the shape itself, which has the named axes.
pub const fn flip(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    along_all(&input(inputs, 0), &argument(plain, 0))
}

/// `roll(shifts, axes)`: the shape itself, which has the named axes.
pub const fn roll(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    let step = along_all(&input(inputs, 0), &argument(plain, 1));
    if step.failed() { step } else { step.doubt(Fail::None) }
}

const fn along_all(shape: &Shape, axes: &Plain) -> Step {
    match axes_of(axes, shape) {
        Axes::All | Axes::Listed(_) => Step::proof(*shape),
        Axes::Unknown => Step::guess(*shape),
        Axes::Wrong(fail) => Step::mistake(fail),
    }
}

/// `rot90(quarters, axes)`: two axes swapped where the quarters are odd.
pub const fn rot90(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    let shape = input(inputs, 0);
    let Plain::List { len: 2, dims } = argument(plain, 1) else { return Step::UNKNOWN };
    if let Axes::Wrong(fail) = axes_of(&argument(plain, 1), &shape) {
        return Step::mistake(fail);
    }
    match (place(&dims[0], &shape, 0), place(&dims[1], &shape, 0), number(&argument(plain, 0)).literal()) {
        (Place::At(a), Place::At(b), Some(quarters)) => {
            let (first, second) = (shape.axis(a), shape.axis(b));
            Step::proof(if quarters % 2 == 0 { shape } else { shape.with(a, second).with(b, first) })
        }
        _ => Step::UNKNOWN,
    }
}

/// `movedim(from, to)`: axes in other places.
pub const fn movedim(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    let shape = input(inputs, 0);
    let (from, to) = (listed(&argument(plain, 0)), listed(&argument(plain, 1)));
    let mut i = 0;
    while i < 2 {
        if let Axes::Wrong(fail) = axes_of(&argument(plain, i), &shape) {
            return Step::mistake(fail);
        }
        i += 1;
    }
    let (Some((count, from)), Some((other, to))) = (from, to) else { return Step::UNKNOWN };
    if !shape.full() || count != other {
        return Step::UNKNOWN;
    }
    // Which axis each place of the result holds, and which axes are moved.
    let (mut held, mut moved, mut i) = ([usize::MAX; 8], 0u32, 0);
    while i < count {
        let (Place::At(a), Place::At(b)) = (place(&from[i], &shape, 0), place(&to[i], &shape, 0)) else {
            return Step::UNKNOWN;
        };
        held[b] = a;
        moved |= 1 << a;
        i += 1;
    }
    let (mut out, mut axis, mut next) = (Shape::SCALAR, 0, 0);
    while axis < shape.len() {
        let at = if held[axis] != usize::MAX {
            held[axis]
        } else {
            while moved & (1 << next) != 0 {
                next += 1;
            }
            next += 1;
            next - 1
        };
        out = out.push(shape.axis(at));
        axis += 1;
    }
    Step::proof(out)
}

/// `repeat(times)`, `tile(times)`: each axis so many times as long; new axes in front.
pub const fn repeat(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    let shape = input(inputs, 0);
    let Some((count, times)) = listed(&argument(plain, 0)) else { return Step::UNKNOWN };
    if shape.len() > count {
        return Step::mistake(Fail::Rank { shape, least: 0, most: count });
    }
    tiled(&shape, &times, count)
}

/// As [`repeat`], where fewer numbers than axes count from the last axis.
pub const fn tile(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    match listed(&argument(plain, 0)) {
        Some((count, times)) => tiled(&input(inputs, 0), &times, count),
        None => Step::UNKNOWN,
    }
}

const fn tiled(shape: &Shape, times: &[Dim; 8], count: usize) -> Step {
    if !shape.full() {
        return Step::UNKNOWN;
    }
    let (mut out, mut i) = (Shape::SCALAR, 0);
    let rank = if count > shape.len() { count } else { shape.len() };
    while i < rank {
        let back = rank - 1 - i;
        let extent = if back < shape.len() { shape.last(back) } else { Dim::lit(1) };
        let by = if back < count { times[count - 1 - back] } else { Dim::lit(1) };
        out = out.push(extent.mul(by));
        i += 1;
    }
    Step::proof(out)
}

/// `repeat_interleave(axis, times)`: an axis so many times as long.
pub const fn repeat_interleave(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    let shape = input(inputs, 0);
    match place_of(&argument(plain, 0), &shape, 0) {
        Place::At(axis) => {
            let extent = shape.axis(axis).mul(number(&argument(plain, 1)));
            let step = Step::proof(shape.with(axis, extent));
            if extent.known() { step } else { step.doubt(Fail::None) }
        }
        Place::Unknown => Step::UNKNOWN,
        Place::Missing(axis) => missing(axis, &shape),
    }
}

/// `repeat_interleave_each(axis, counts)`, `chunk(count, axis)`: an axis of which only the run knows the extent.
pub const fn some_of(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    open_axis(&input(inputs, 0), &argument(plain, 0))
}

/// `chunk(count, axis)`: parts of an axis, of which only the run knows the extent.
pub const fn chunk(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    open_axis(&input(inputs, 0), &argument(plain, 1))
}

const fn open_axis(shape: &Shape, axis: &Plain) -> Step {
    match place_of(axis, shape, 0) {
        Place::At(axis) => Step::guess(shape.with(axis, Dim::UNKNOWN)),
        Place::Unknown => Step::UNKNOWN,
        Place::Missing(axis) => missing(axis, shape),
    }
}

/// `unbind(axis)`: each entry has the shape without the axis.
pub const fn unbind(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    let shape = input(inputs, 0);
    match place_of(&argument(plain, 0), &shape, 0) {
        Place::At(axis) => Step::proof(shape.remove(axis)),
        Place::Unknown => Step::UNKNOWN,
        Place::Missing(axis) => missing(axis, &shape),
    }
}

/// `unflatten(axis, sizes)`: an axis cut into several.
pub const fn unflatten(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    let shape = input(inputs, 0);
    let axis = match place_of(&argument(plain, 0), &shape, 0) {
        Place::At(axis) => axis,
        Place::Unknown => return Step::UNKNOWN,
        Place::Missing(axis) => return missing(axis, &shape),
    };
    let sizes = reshape(&[Shape::of(&[shape.axis(axis)])], &[argument(plain, 1)], 0);
    if sizes.failed() || !sizes.shape.known() {
        return sizes;
    }
    let (mut out, mut i) = (shape.head(shape.len() - axis), 0);
    while i < sizes.shape.len() {
        out = out.push(sizes.shape.axis(i));
        i += 1;
    }
    i = axis + 1;
    while i < shape.len() {
        out = out.push(shape.axis(i));
        i += 1;
    }
    Step { shape: out, ..sizes }
}

/// `[x, other]`, `expand_as`: the other's shape, into which `x` broadcasts.
pub const fn expand_as(inputs: &[Shape], _plain: &[Plain], _out: usize) -> Step {
    broadcast_first(&[input(inputs, 1), input(inputs, 0)], &[], 0)
}

/// `[x, other]`, `reshape_as`: the other's shape, which has as many elements.
pub const fn reshape_as(inputs: &[Shape], _plain: &[Plain], _out: usize) -> Step {
    let (from, to) = (input(inputs, 0), input(inputs, 1));
    if !to.known() {
        return Step::UNKNOWN;
    }
    let (before, after) = (from.numel(), to.numel());
    if before.same(&after) {
        Step::proof(to)
    } else if before.differs(&after) {
        Step::mistake(Fail::Elements { from, to })
    } else {
        let told = before.known() && after.known();
        Step::guess(to).doubt(if told { Fail::Elements { from, to } } else { Fail::None })
    }
}

/// `tril(diagonal)`: the shape itself, of at least two axes.
pub const fn matrices(inputs: &[Shape], _plain: &[Plain], _out: usize) -> Step {
    let shape = input(inputs, 0);
    if shape.full() && shape.len() < 2 {
        return Step::mistake(Fail::Rank { shape, least: 2, most: usize::MAX });
    }
    if shape.len() >= 2 { Step::proof(shape) } else { Step::guess(shape) }
}

/// `trace()`: a number from a matrix.
pub const fn trace(inputs: &[Shape], _plain: &[Plain], _out: usize) -> Step {
    let shape = input(inputs, 0);
    if shape.len() > 2 || (shape.full() && shape.len() != 2) {
        return Step::mistake(Fail::Rank { shape, least: 2, most: 2 });
    }
    if shape.full() { Step::proof(Shape::SCALAR) } else { Step::guess(Shape::SCALAR) }
}

/// `diagonal(offset, rows, columns)`: the other axes, then the diagonal.
pub const fn diagonal(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    let shape = input(inputs, 0);
    match (place_of(&argument(plain, 1), &shape, 0), place_of(&argument(plain, 2), &shape, 0)) {
        (Place::Missing(axis), _) | (_, Place::Missing(axis)) => missing(axis, &shape),
        (Place::At(a), Place::At(b)) if a == b => Step::mistake(Fail::Twice { axis: a, shape }),
        (Place::At(a), Place::At(b)) => {
            let extent = diagonal_of(&shape.axis(a), &shape.axis(b), &number(&argument(plain, 0)));
            let (low, high) = if a < b { (a, b) } else { (b, a) };
            let out = shape.remove(high).remove(low).push(extent);
            if extent.known() { Step::proof(out) } else { Step::guess(out) }
        }
        (Place::At(_) | Place::Unknown, Place::At(_) | Place::Unknown) => Step::UNKNOWN,
    }
}

/// How long a diagonal is.
const fn diagonal_of(rows: &Dim, columns: &Dim, offset: &Dim) -> Dim {
    let Some(k) = offset.literal() else { return Dim::UNKNOWN };
    let zero = Dim::lit(0);
    let down = if k < 0 { rows.sub(Dim::lit(k.saturating_neg())) } else { *rows };
    let right = if k > 0 { columns.sub(Dim::lit(k)) } else { *columns };
    if zero.exceeds(&down) || zero.exceeds(&right) {
        zero
    } else if down.same(&right) || right.exceeds(&down) {
        down
    } else if down.exceeds(&right) {
        right
    } else {
        Dim::UNKNOWN
    }
}

/// `diag(offset)`: the diagonal of a matrix, the matrix of a diagonal.
pub const fn diag(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    let shape = input(inputs, 0);
    let offset = argument(plain, 0);
    if shape.len() > 2 || (shape.full() && shape.is_empty()) {
        return Step::mistake(Fail::Rank { shape, least: 1, most: 2 });
    }
    if !shape.full() {
        return Step::UNKNOWN;
    }
    if shape.len() == 2 {
        return diagonal(inputs, &[offset, Plain::dim(Dim::lit(0)), Plain::dim(Dim::lit(1))], 0);
    }
    let extent = beyond(&shape.axis(0), &offset);
    if extent.known() { Step::proof(Shape::of(&[extent, extent])) } else { Step::guess(Shape::of(&[extent, extent])) }
}

/// `diag_embed(offset, rows, columns)`: matrices whose diagonal is the last axis.
pub const fn diag_embed(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    let shape = input(inputs, 0);
    if shape.full() && shape.is_empty() {
        return Step::mistake(Fail::Rank { shape, least: 1, most: usize::MAX });
    }
    match (place_of(&argument(plain, 1), &shape, 1), place_of(&argument(plain, 2), &shape, 1)) {
        (Place::Missing(axis), _) | (_, Place::Missing(axis)) => missing(axis, &shape),
        (Place::At(a), Place::At(b)) if a == b => Step::mistake(Fail::Twice { axis: a, shape }),
        (Place::At(a), Place::At(b)) if shape.full() => {
            let extent = beyond(&shape.last(0), &argument(plain, 0));
            let (low, high) = if a < b { (a, b) } else { (b, a) };
            let out = shape.head(1).insert(low, extent).insert(high, extent);
            if extent.known() { Step::proof(out) } else { Step::guess(out) }
        }
        (Place::At(_) | Place::Unknown, Place::At(_) | Place::Unknown) => Step::UNKNOWN,
    }
}

/// The extent of a matrix that has this on a diagonal.
const fn beyond(extent: &Dim, offset: &Plain) -> Dim {
    match number(offset).literal() {
        Some(k) => extent.add(Dim::lit(k.saturating_abs())),
        None => Dim::UNKNOWN,
    }
}

/// `hstack([a, b, ..])`: side by side along axis 1, vectors along axis 0.
pub const fn hstack(inputs: &[Shape], _plain: &[Plain], _out: usize) -> Step {
    let first = input(inputs, 0);
    if !first.full() || first.is_empty() {
        return Step::UNKNOWN;
    }
    cat(inputs, &[Plain::dim(Dim::lit(if first.len() > 1 { 1 } else { 0 }))], 0)
}

/// `vstack([a, b, ..])`: below each other along axis 0, vectors as rows.
pub const fn vstack(inputs: &[Shape], _plain: &[Plain], _out: usize) -> Step {
    let first = input(inputs, 0);
    if !first.full() || first.len() < 2 {
        return Step::UNKNOWN;
    }
    cat(inputs, &[Plain::dim(Dim::lit(0))], 0)
}

/// `meshgrid([a, b, ..])`: an axis for each vector.
pub const fn meshgrid(inputs: &[Shape], _plain: &[Plain], _out: usize) -> Step {
    let (mut grid, mut i) = (Shape::SCALAR, 0);
    while i < inputs.len() {
        let shape = inputs[i];
        if shape.len() > 1 {
            return Step::mistake(Fail::Rank { shape, least: 0, most: 1 });
        }
        grid = grid.push(shape.numel());
        i += 1;
    }
    Step::guess(grid)
}

/// The numbers of a list, or a single one.
const fn listed(plain: &Plain) -> Option<(usize, [Dim; 8])> {
    match plain {
        Plain::Dim(dim) => Some((1, [*dim; 8])),
        Plain::List { len, dims } => Some((*len as usize, *dims)),
        Plain::All | Plain::Entry(_) | Plain::Text(_) | Plain::Unknown => None,
    }
}
