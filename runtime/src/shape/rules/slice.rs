//! Slices, single entries, borders and windows.

use super::axis::{Place, missing, place_of};
use super::elementwise::broadcast_first;
use super::{Plain, Shape, argument, covers, input, number};
use crate::shape::dim::Dim;
use crate::shape::step::{Entry, Fail, Step};

/// `slice(s![..])`: what the entries leave of each axis.
pub const fn slice(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    let shape = input(inputs, 0);
    let (mut named, mut ellipsis, mut count) = (0, false, 0);
    while count < plain.len() {
        match &plain[count] {
            Plain::Entry(Entry::At(_) | Entry::Range { .. }) => named += 1,
            Plain::Entry(Entry::Ellipsis) => ellipsis = true,
            Plain::Entry(Entry::New) => {}
            Plain::Dim(_) | Plain::List { .. } | Plain::All | Plain::Text(_) | Plain::Unknown => break,
        }
        count += 1;
    }
    if shape.full() && named > shape.len() {
        return Step::mistake(Fail::Rank { shape, least: named, most: usize::MAX });
    }
    if !shape.full() || count == 0 {
        return Step::UNKNOWN;
    }
    let (mut step, mut axis, mut i) = (Step::proof(Shape::SCALAR), 0, 0);
    while i < count {
        match &plain[i] {
            Plain::Entry(Entry::New) => step.shape = step.shape.push(Dim::lit(1)),
            Plain::Entry(Entry::Ellipsis) => {
                let mut left = shape.len() - named;
                while left > 0 {
                    step.shape = step.shape.push(shape.axis(axis));
                    (axis, left) = (axis + 1, left - 1);
                }
            }
            Plain::Entry(Entry::At(at)) => {
                let held = entry(&shape, axis, at);
                if held.failed() {
                    return held;
                }
                if !held.proved() {
                    step = step.doubt(held.fail);
                }
                axis += 1;
            }
            Plain::Entry(Entry::Range { start, end, step: by }) => {
                let (count, sure) = range(&shape.axis(axis), start, end, by);
                step.shape = step.shape.push(count);
                if !sure {
                    step = step.doubt(Fail::None);
                }
                axis += 1;
            }
            Plain::Dim(_) | Plain::List { .. } | Plain::All | Plain::Text(_) | Plain::Unknown => {}
        }
        i += 1;
    }
    while !ellipsis && axis < shape.len() {
        step.shape = step.shape.push(shape.axis(axis));
        axis += 1;
    }
    step
}

/// `[x, src]`, `slice_assign(s![..])`: the shape of `x`; `src`, where there is one, broadcasts into the slice.
pub const fn slice_put(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    let part = slice(inputs, plain, 0);
    if part.failed() {
        return part;
    }
    let shape = input(inputs, 0);
    let put = if inputs.len() > 1 { broadcast_first(&[part.shape, inputs[1]], &[], 0) } else { part };
    if put.failed() { put } else { Step { shape, ..put } }
}

/// `select(axis, index)`: the shape without the axis, which has such an entry.
pub const fn one_entry(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    let shape = input(inputs, 0);
    match place_of(&argument(plain, 0), &shape, 0) {
        Place::At(axis) => {
            let step = entry(&shape, axis, &number(&argument(plain, 1)));
            if step.failed() { step } else { Step { shape: shape.remove(axis), ..step } }
        }
        Place::Unknown => Step::UNKNOWN,
        Place::Missing(axis) => missing(axis, &shape),
    }
}

/// `unfold(axis, size, step)`: the number of windows in the place of the axis, and their size behind all others.
pub const fn unfold(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    let shape = input(inputs, 0);
    let (length, by) = (number(&argument(plain, 1)), number(&argument(plain, 2)));
    let axis = match place_of(&argument(plain, 0), &shape, 0) {
        Place::At(axis) => axis,
        Place::Unknown => return Step::UNKNOWN,
        Place::Missing(axis) => return missing(axis, &shape),
    };
    let extent = shape.axis(axis);
    let fail = Fail::Narrow { shape, axis, start: Dim::lit(0), length };
    if length.exceeds(&extent) {
        return Step::mistake(fail);
    }
    let count = extent.sub(length).floor_div(by).add(Dim::lit(1));
    let step = Step::guess(shape.with(axis, count).push(length));
    if covers(&extent, &length) {
        return Step::proof(step.shape);
    }
    step.doubt(if extent.known() && length.known() { fail } else { Fail::None })
}

/// `pad(widths)`: the last axes longer by what stands before and behind them.
pub const fn pad(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    let shape = input(inputs, 0);
    let Plain::List { len, dims } = argument(plain, 0) else { return Step::UNKNOWN };
    let count = len as usize;
    if !count.is_multiple_of(2) || (shape.full() && count / 2 > shape.len()) {
        return Step::mistake(Fail::Widths { shape, count });
    }
    if count / 2 > shape.len() {
        return Step::UNKNOWN;
    }
    let (mut padded, mut back) = (shape, 0);
    while back < count / 2 {
        let axis = shape.len() - 1 - back;
        let extent = shape.axis(axis).add(dims[2 * back]).add(dims[2 * back + 1]);
        if Dim::lit(0).exceeds(&extent) {
            let length = Dim::lit(0).sub(dims[2 * back]).sub(dims[2 * back + 1]);
            return Step::mistake(Fail::Narrow { shape, axis, start: Dim::lit(0), length });
        }
        padded = padded.with(axis, extent);
        back += 1;
    }
    Step::guess(padded)
}

/// Whether an axis has an entry.
const fn entry(shape: &Shape, axis: usize, at: &Dim) -> Step {
    let extent = shape.axis(axis);
    let fail = Fail::Entry { shape: *shape, axis, entry: *at };
    let negative = matches!(at.literal(), Some(n) if n < 0);
    // How many entries there must be at least.
    let needed = if negative { Dim::lit(0).sub(*at) } else { at.add(Dim::lit(1)) };
    if needed.exceeds(&extent) {
        Step::mistake(fail)
    } else if covers(&extent, &needed) {
        Step::proof(*shape)
    } else {
        Step::guess(*shape).doubt(if at.known() && extent.known() { fail } else { Fail::None })
    }
}

/// How many entries a range has, of an axis of that extent, and whether that holds for every extent: a bound that may
/// lie behind the end is taken as it stands.
const fn range(extent: &Dim, start: &Option<Dim>, end: &Option<Dim>, step: &Dim) -> (Dim, bool) {
    let Some(by) = step.literal() else { return (Dim::UNKNOWN, false) };
    let (length, sure) = if by > 0 {
        let (first, inside) = match start {
            Some(start) => bound(extent, start),
            None => (Dim::lit(0), true),
        };
        let (last, also) = match end {
            Some(end) => bound(extent, end),
            None => (*extent, true),
        };
        (last.sub(first), inside && also)
    } else if start.is_none() && end.is_none() {
        (*extent, true)
    } else {
        let count = backwards(extent, start, end, by);
        return (count, count.known());
    };
    if Dim::lit(0).exceeds(&length) {
        return (Dim::lit(0), sure);
    }
    let size = Dim::lit(by.saturating_abs());
    let count = if size.is(1) { length } else { length.add(size).sub(Dim::lit(1)).floor_div(size) };
    (count, sure && covers(&length, &Dim::lit(0)))
}

/// A bound of a forward range, from the start and cut to the axis; and whether it lies there for every extent.
const fn bound(extent: &Dim, given: &Dim) -> (Dim, bool) {
    let at = match given.literal() {
        Some(n) if n < 0 => extent.add(*given),
        _ => *given,
    };
    if Dim::lit(0).exceeds(&at) {
        (Dim::lit(0), true)
    } else if at.exceeds(extent) {
        (*extent, true)
    } else {
        (at, covers(extent, &at) && covers(&at, &Dim::lit(0)))
    }
}

/// As [`range`] with a negative step and bounds, where all of them are numbers.
const fn backwards(extent: &Dim, start: &Option<Dim>, end: &Option<Dim>, by: i64) -> Dim {
    let Some(n) = extent.literal() else { return Dim::UNKNOWN };
    let Some(first) = last_bound(n, start, n - 1) else { return Dim::UNKNOWN };
    let Some(last) = last_bound(n, end, -1) else { return Dim::UNKNOWN };
    let (gap, by) = (first - last, by.saturating_neg());
    if gap <= 0 { Dim::lit(0) } else { Dim::lit((gap + by - 1) / by) }
}

/// A bound of a backward range, cut to the axis; `None` where only the run can tell.
const fn last_bound(n: i64, given: &Option<Dim>, missing: i64) -> Option<i64> {
    let Some(given) = given else { return Some(missing) };
    let Some(at) = given.literal() else { return None };
    let at = if at < 0 { at.saturating_add(n) } else { at };
    Some(if at < -1 {
        -1
    } else if at > n - 1 {
        n - 1
    } else {
        at
    })
}
