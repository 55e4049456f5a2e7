//! Largest elements of windows. The first of equal ones counts, and a NaN is larger than any number.

use super::axis::Axis;
use super::plan::Pool;
use crate::tensor::{Raw, launch};
use cotangent_hal::native::Float;
use cotangent_hal::native::scalar::{Number, maximum};
use cotangent_hal::{Arg, DType, Scalar, kernel};

/// The most places of a window whose number is stored in a byte.
const SMALL: usize = 256;

kernel! {
    /// The largest element of each window.
    static MAX = Rows "max_pool" (x: Whole F32; h, oh, kh, sh, ph, dh, w, ow, kw, sw, pw, dw) -> (y: Part F32) |tile| {
        let axes = [Axis::of([h, oh, kh, sh, ph, dh]), Axis::of([w, ow, kw, sw, pw, dw])];
        largest(x, y, tile.2, axes, Real::NEG_INFINITY);
    }
}
kernel! {
    /// The largest element of each window, and its number in the window.
    static MAX_SMALL = Rows "max_pool" (x: Whole F32; h, oh, kh, sh, ph, dh, w, ow, kw, sw, pw, dw)
        -> (y: Part F32, at: Part U8) |tile| {
        let axes = [Axis::of([h, oh, kh, sh, ph, dh]), Axis::of([w, ow, kw, sw, pw, dw])];
        if axes[0].is_pairs() && axes[1].is_pairs() {
            pairs(x, y, at, tile.2, axes);
        } else {
            let columns = axes[1].window;
            found(x, y, at, tile.2, axes, Real::NEG_INFINITY, |[k, l], _| (k * columns + l) as u8);
        }
    }
}
kernel! {
    /// The largest element of each window, and its place in the plane.
    static MAX_PLACE = Rows "max_pool" (x: Whole F32; h, oh, kh, sh, ph, dh, w, ow, kw, sw, pw, dw)
        -> (y: Part F32, at: Part I64) |tile| {
        let axes = [Axis::of([h, oh, kh, sh, ph, dh]), Axis::of([w, ow, kw, sw, pw, dw])];
        let columns = axes[1].size;
        found(x, y, at, tile.2, axes, Real::NEG_INFINITY, |_, [row, column]| (row * columns + column) as i64);
    }
}
kernel! {
    /// The cotangents of windows at the elements with these numbers.
    static BACK_SMALL = Rows "max_pool" (ct: Whole F32, at: Whole U8; h, oh, kh, sh, ph, dh, w, ow, kw, sw, pw, dw)
        -> (dx: Part F32) |tile| {
        let axes = [Axis::of([h, oh, kh, sh, ph, dh]), Axis::of([w, ow, kw, sw, pw, dw])];
        if axes[0].is_pairs() && axes[1].is_pairs() {
            unpaired(ct, at, dx, tile.2, axes);
        } else {
            returned(ct, at, dx, tile.2, axes);
        }
    }
}
kernel! {
    /// The cotangents of windows at the places of their largest elements.
    static BACK_PLACE = Rows "max_pool" (ct: Whole F32, at: Whole I64; size, output) -> (dx: Part F32) |tile| {
        let (size, output) = (size.i64() as usize, output.i64() as usize);
        let from = tile.2 * output;
        for (i, dx) in dx.chunks_exact_mut(size).enumerate() {
            let range = from + i * output..from + (i + 1) * output;
            for (&ct, &at) in ct[range.clone()].iter().zip(&at[range]) {
                if let Some(dx) = dx.get_mut(at as usize) {
                    *dx += ct;
                }
            }
        }
    }
}

/// The numbers or places of the largest elements, for the pullback.
pub(super) struct Found {
    pool: Pool,
    at: Raw,
}

/// The largest element of each window.
#[track_caller]
pub(super) fn values(pool: &Pool, x: &Raw) -> Raw {
    let (x, y) = (pool.planes(x), pool.empty(x, x.dtype));
    if y.numel() > 0 {
        launch(&x.device, &MAX, &[1], &[&[Arg::In(x.view()), Arg::Out(y.view())][..], &pool.scalars()].concat());
    }
    pool.finish(y)
}

/// As [`values`], and where they were: numbers in the window where these are small, else places in the plane.
#[track_caller]
pub(super) fn values_found(pool: &Pool, x: &Raw) -> (Raw, Found) {
    let is_small = pool.axes.iter().all(|a| a.window > 0) && pool.axes[0].window * pool.axes[1].window <= SMALL;
    if !is_small {
        let (y, at) = values_and_places(pool, x);
        return (y, Found { pool: *pool, at: pool.planes_of_result(at).keep() });
    }
    let (x, y, at) = (pool.planes(x), pool.empty(x, x.dtype), pool.empty(x, DType::U8));
    if y.numel() > 0 {
        let args = [&[Arg::In(x.view()), Arg::Out(y.view()), Arg::Out(at.view())][..], &pool.scalars()].concat();
        launch(&x.device, &MAX_SMALL, &[1], &args);
    }
    (pool.finish(y), Found { pool: *pool, at: at.keep() })
}

/// As [`values`], and their places in the plane.
#[track_caller]
pub(super) fn values_and_places(pool: &Pool, x: &Raw) -> (Raw, Raw) {
    let (x, y, at) = (pool.planes(x), pool.empty(x, x.dtype), pool.empty(x, DType::I64));
    if y.numel() > 0 {
        let args = [&[Arg::In(x.view()), Arg::Out(y.view()), Arg::Out(at.view())][..], &pool.scalars()].concat();
        launch(&x.device, &MAX_PLACE, &[1], &args);
    }
    (pool.finish(y), pool.finish(at))
}

impl Found {
    /// That of places which [`values_and_places`] gave.
    pub(super) fn at_places(pool: &Pool, at: &Raw) -> Found {
        Found { pool: *pool, at: pool.planes_of_result(at.clone()).keep() }
    }

    /// The cotangent of the operand.
    #[track_caller]
    pub(super) fn pull(&self, ct: Raw) -> Raw {
        let (ct, dx) = (self.pool.planes_of_result(ct), self.pool.empty_operand(&self.at));
        if dx.numel() > 0 && ct.numel() > 0 {
            let tensors = [Arg::In(ct.view()), Arg::In(self.at.view()), Arg::Out(dx.view())];
            if self.at.dtype == DType::U8 {
                launch(&ct.device, &BACK_SMALL, &[1], &[&tensors[..], &self.pool.scalars()].concat());
            } else {
                let sizes = [dx.shape[1], ct.shape[1]].map(|n| Arg::Scalar(Scalar::Int(n as i64)));
                launch(&ct.device, &BACK_PLACE, &[1], &[&tensors[..], &sizes].concat());
            }
        } else {
            dx.fill(Scalar::Int(0));
        }
        self.pool.finish_operand(dx)
    }
}

/// The planes of a result, and of the operand, one by one: those from plane `part` on.
#[inline(always)]
fn each_plane<'a, T, U>(
    x: &'a [T],
    y: &'a mut [U],
    part: usize,
    axes: [Axis; 2],
) -> impl Iterator<Item = (&'a [T], &'a mut [U])> {
    let (size, output) = (axes[0].size * axes[1].size, axes[0].output * axes[1].output);
    x[part * size..].chunks_exact(size).zip(y.chunks_exact_mut(output))
}

/// Largest elements: first those of each column of a row of windows, then those of the columns of each window.
#[inline(always)]
fn largest<T: Number>(x: &[T], y: &mut [T], part: usize, axes: [Axis; 2], lowest: T) {
    let [rows, columns] = axes;
    if rows.is_pairs() && columns.is_pairs() {
        for (x, y) in each_plane(x, y, part, axes) {
            for (x, y) in x.chunks_exact(2 * columns.size).zip(y.chunks_exact_mut(columns.output)) {
                let (a, b) = x.split_at(columns.size);
                for ((y, a), b) in y.iter_mut().zip(a.chunks_exact(2)).zip(b.chunks_exact(2)) {
                    *y = maximum(maximum(a[0], a[1]), maximum(b[0], b[1]));
                }
            }
        }
        return;
    }
    let mut best = vec![lowest; columns.size];
    for (x, y) in each_plane(x, y, part, axes) {
        for (i, y) in y.chunks_exact_mut(columns.output).enumerate() {
            best.fill(lowest);
            for row in rows.places(i).iter() {
                for (best, &x) in best.iter_mut().zip(&x[row * columns.size..]) {
                    *best = maximum(*best, x);
                }
            }
            for (j, y) in y.iter_mut().enumerate() {
                *y = columns.places(j).iter().fold(lowest, |y, column| maximum(y, best[column]));
            }
        }
    }
}

/// Largest elements and what `mark` makes of their numbers along both axes of the window and of the plane.
#[inline(always)]
fn found<T: Number, A>(
    x: &[T],
    y: &mut [T],
    at: &mut [A],
    part: usize,
    axes: [Axis; 2],
    lowest: T,
    mark: impl Fn([usize; 2], [usize; 2]) -> A,
) {
    let [rows, columns] = axes;
    let output = rows.output * columns.output;
    for ((x, y), at) in each_plane(x, y, part, axes).zip(at.chunks_exact_mut(output)) {
        for i in 0..rows.output {
            let down = rows.places(i);
            for j in 0..columns.output {
                let across = columns.places(j);
                let (mut best, mut place) = (lowest, [down.start, across.start]);
                for row in down.iter() {
                    for column in across.iter() {
                        let value = x[row * columns.size + column];
                        if value > best || value.is_nan() {
                            (best, place) = (value, [row, column]);
                        }
                    }
                }
                let number = [
                    down.first + (place[0] - down.start) / down.step,
                    across.first + (place[1] - across.start) / across.step,
                ];
                y[i * columns.output + j] = best;
                at[i * columns.output + j] = mark(number, place);
            }
        }
    }
}

/// As [`found`], of windows of two rows and two columns side by side.
#[inline(always)]
fn pairs<T: Number>(x: &[T], y: &mut [T], at: &mut [u8], part: usize, axes: [Axis; 2]) {
    let [rows, columns] = axes;
    let output = rows.output * columns.output;
    for ((x, y), at) in each_plane(x, y, part, axes).zip(at.chunks_exact_mut(output)) {
        let (y, at) = (y.chunks_exact_mut(columns.output), at.chunks_exact_mut(columns.output));
        for ((x, y), at) in x.chunks_exact(2 * columns.size).zip(y).zip(at) {
            let (a, b) = x.split_at(columns.size);
            for (((y, at), a), b) in y.iter_mut().zip(at).zip(a.chunks_exact(2)).zip(b.chunks_exact(2)) {
                let (mut best, mut place) = (a[0], 0u8);
                for (value, number) in [(a[1], 1), (b[0], 2), (b[1], 3)] {
                    let is_better = value > best || value.is_nan();
                    best = if is_better { value } else { best };
                    place = if is_better { number } else { place };
                }
                (*y, *at) = (best, place);
            }
        }
    }
}

/// The inverse of [`pairs`]: each cotangent at one of four places, zeros at the others.
#[inline(always)]
fn unpaired<T: Float>(ct: &[T], at: &[u8], dx: &mut [T], part: usize, axes: [Axis; 2]) {
    let [rows, columns] = axes;
    let (size, output) = (rows.size * columns.size, rows.output * columns.output);
    let (ct, at) = (ct[part * output..].chunks_exact(output), at[part * output..].chunks_exact(output));
    for ((ct, at), dx) in ct.zip(at).zip(dx.chunks_exact_mut(size)) {
        let (ct, at) = (ct.chunks_exact(columns.output), at.chunks_exact(columns.output));
        for ((ct, at), dx) in ct.zip(at).zip(dx.chunks_exact_mut(2 * columns.size)) {
            let (a, b) = dx.split_at_mut(columns.size);
            for (((&ct, &at), a), b) in ct.iter().zip(at).zip(a.chunks_exact_mut(2)).zip(b.chunks_exact_mut(2)) {
                let share = |number: u8| if at == number { ct } else { T::ZERO };
                (a[0], a[1], b[0], b[1]) = (share(0), share(1), share(2), share(3));
            }
        }
    }
}

/// Adds each cotangent at the element with its number in the window.
#[inline(always)]
fn returned<T: Float>(ct: &[T], at: &[u8], dx: &mut [T], part: usize, axes: [Axis; 2]) {
    let [rows, columns] = axes;
    let (size, output) = (rows.size * columns.size, rows.output * columns.output);
    // Where each number lies from the start of the window.
    let mut from_start = [(0, 0); SMALL];
    for (number, place) in from_start.iter_mut().enumerate().take(rows.window * columns.window) {
        *place = (number / columns.window * rows.dilation, number % columns.window * columns.dilation);
    }
    let (ct, at) = (ct[part * output..].chunks_exact(output), at[part * output..].chunks_exact(output));
    for ((ct, at), dx) in ct.zip(at).zip(dx.chunks_exact_mut(size)) {
        for i in 0..rows.output {
            for j in 0..columns.output {
                let (down, across) = from_start[at[i * columns.output + j] as usize];
                let row = (i * rows.stride + down).wrapping_sub(rows.padding);
                let column = (j * columns.stride + across).wrapping_sub(columns.padding);
                // A window of nothing but padding has no element.
                if row < rows.size && column < columns.size {
                    let dx = &mut dx[row * columns.size + column];
                    *dx = *dx + ct[i * columns.output + j];
                }
            }
        }
    }
}
