//! Convolutions with one filter for each channel, a plane of the result at a time. A product has nothing to share there:
//! runs of sums are kept in registers while their few terms go by. No sum is shared by two planes, so that the bits do not
//! depend on the threads.
#![allow(unsafe_code, reason = "makes slices of memory of its own and calls variants that the processor has")]

use super::implicit::Means;
use super::patches::Grid;
use super::{Extents, grid, turned};
use crate::backend::threads;
use crate::gemm::{Element, Epilogue, Matrix};
use cotangent_hal::native::Level;
use cotangent_hal::{Result, Window};
use rayon::prelude::*;
use std::slice;

/// `y` from `x` and `w`.
pub(super) fn output<T: Element>(
    means: Means<'_>,
    extents: &Extents,
    window: &Window,
    operands: [&[T]; 2],
    epilogue: Epilogue<T>,
    y: &mut [T],
) -> Result<()> {
    Field::new(grid(extents, window)).convolve(means, extents.groups, operands, epilogue, y)
}

/// `x` from `w` and `y`.
pub(super) fn input<T: Element>(
    means: Means<'_>,
    extents: &Extents,
    window: &Window,
    [w, y]: [&[T]; 2],
    epilogue: Epilogue<T>,
    x: &mut [T],
) -> Result<()> {
    // Longer steps leave zeros between the outputs that the filters, turned round, move over.
    let field = Field { apart: window.stride, ..Field::new(turned(extents, window)) };
    field.reversed().convolve(means, extents.groups, [y, w], epilogue, x)
}

/// `w` from `x` and `y`.
pub(super) fn weight<T: Element>(
    means: Means<'_>,
    extents: &Extents,
    window: &Window,
    operands: [&[T]; 2],
    w: &mut [T],
) -> Result<()> {
    Field::new(grid(extents, window)).filters(means, extents.groups, operands, w)
}

/// Sums that are computed side by side.
const LANES: usize = 64;

/// A plane that a filter moves over, laid out so that what one of its elements meets at all places, row after row, lies in
/// one run: zeros around the plane, and rows and columns that are a step apart beside each other.
///
/// Rows of results are as far apart as those of the field, so that behind each follow some that are no results.
struct Field {
    grid: Grid,
    /// Distances of rows and columns of planes: between them lie zeros.
    apart: [usize; 2],
    /// The remainders of rows and columns, by the step, that elements of a filter meet. Those of one pair are a part of the
    /// field.
    remainders: [Vec<usize>; 2],
    /// Rows and columns of a part.
    part: [usize; 2],
    /// Where the run of each element of a filter begins.
    taps: Vec<usize>,
    /// Elements of a run: whole lanes.
    run: usize,
}

impl Field {
    /// That of filters on a grid.
    fn new(grid: Grid) -> Field {
        let meets = |axis: usize| (0..grid.filter[axis]).map(move |k| k * grid.dilation[axis]);
        let remainders = [0, 1].map(|axis| {
            let mut all: Vec<usize> = meets(axis).map(|at| at % grid.stride[axis]).collect();
            all.sort_unstable();
            all.dedup();
            all
        });
        let part = [0, 1].map(|axis| grid.places[axis] + meets(axis).max().unwrap_or(0) / grid.stride[axis]);
        let run = part[1].saturating_mul(grid.places[0]).next_multiple_of(LANES);
        let mut field = Field { grid, apart: [1, 1], remainders, part, taps: vec![], run };
        for row in meets(0) {
            let row = (field.number(0, row), row / grid.stride[0]);
            let tap = |column| field.start([row.0, field.number(1, column)], row.1) + column / grid.stride[1];
            let taps: Vec<usize> = meets(1).map(tap).collect();
            field.taps.extend(taps);
        }
        field
    }

    /// The field of filters whose elements are in the opposite order.
    fn reversed(mut self) -> Field {
        self.taps.reverse();
        self
    }

    /// Elements of the field.
    fn len(&self) -> usize {
        self.taps.iter().max().unwrap_or(&0).saturating_add(self.run)
    }

    /// The number of a remainder; of one that no element of a filter meets, that of the next.
    fn number(&self, axis: usize, at: usize) -> usize {
        self.remainders[axis].partition_point(|&known| known < at % self.grid.stride[axis])
    }

    /// Where a row of a part begins.
    fn start(&self, [above, left]: [usize; 2], row: usize) -> usize {
        let parts = above * self.remainders[1].len() + left;
        parts.saturating_mul(self.part[0]).saturating_add(row).saturating_mul(self.part[1])
    }

    /// Lays out a plane in memory whose other elements are zeros.
    fn fill<T: Element>(&self, plane: &[T], to: &mut [T]) {
        let Grid { image: [_, width], stride: [down, step], padding, .. } = self.grid;
        for (left, &remainder) in self.remainders[1].iter().enumerate() {
            // Element `j` of a row is column `(j * step + remainder - padding) / apart`, where that is a number. One of
            // the two is 1.
            let (ahead, apart) = (padding[1] - remainder as isize, self.apart[1]);
            let (behind, ahead) = ((-ahead).max(0).unsigned_abs(), ahead.max(0).unsigned_abs());
            let (first, column) = match step {
                1 => (ahead + behind.next_multiple_of(apart) - behind, behind.div_ceil(apart)),
                _ => (ahead.div_ceil(step), behind + ahead.next_multiple_of(step) - ahead),
            };
            let room = self.part[1].saturating_sub(first).div_ceil(apart);
            let count = width.saturating_sub(column).div_ceil(step).min(room);
            if count == 0 {
                continue;
            }
            for (at, line) in plane.chunks_exact(width).enumerate() {
                let Some(row) = (at * self.apart[0]).checked_add_signed(padding[0]) else { continue };
                let (row, rest) = (row / down, row % down);
                let Ok(above) = self.remainders[0].binary_search(&rest) else { continue };
                if row < self.part[0] {
                    let to = &mut to[self.start([above, left], row) + first..];
                    spread(&line[column..], to, [step, apart], count);
                }
            }
        }
    }

    /// What filters, one for each channel, make of planes.
    fn convolve<T: Element>(
        &self,
        means: Means<'_>,
        channels: usize,
        [planes, filters]: [&[T]; 2],
        epilogue: Epilogue<T>,
        results: &mut [T],
    ) -> Result<()> {
        let (area, taps) = (self.grid.area(), self.taps.len());
        each(means, results, area, self, |at, field, run, result| {
            let channel = at % channels;
            self.fill(self.plane(planes, at), field);
            let matrix = Matrix { ptr: result.as_mut_ptr(), rows: area as isize, columns: 1 };
            // SAFETY: the processor has the level; the plane is this task's alone, and the bias has its channel.
            unsafe {
                sums(means.level, &self.taps, field, &filters[channel * taps..][..taps], run);
                for (to, from) in result.chunks_exact_mut(self.grid.places[1]).zip(run.chunks(self.part[1])) {
                    to.copy_from_slice(&from[..to.len()]);
                }
                epilogue.from(channel, 0).apply(means.level, matrix, [1, area]);
            }
        })
    }

    /// The filters' cotangents, from those of what the filters make of planes.
    fn filters<T: Element>(
        &self,
        means: Means<'_>,
        channels: usize,
        [planes, given]: [&[T]; 2],
        filters: &mut [T],
    ) -> Result<()> {
        let area = self.grid.area();
        let images = if area == 0 { 0 } else { given.len() / (area * channels) };
        each(means, filters, self.taps.len(), self, |channel, field, run, filter| {
            filter.fill(T::ZERO);
            let of_channel = (0..images).map(|i| i * channels + channel);
            for at in of_channel.clone() {
                self.fill(self.plane(planes, at), field);
                let rows = given[at * area..][..area].chunks_exact(self.grid.places[1]);
                run.chunks_mut(self.part[1]).zip(rows).for_each(|(to, y)| to[..y.len()].copy_from_slice(y));
                // SAFETY: the processor has the level.
                unsafe { dots(means.level, &self.taps, field, run, filter) };
            }
            // Zeros behind the rows meet elements that the filter does not, and make NaN of those that are infinite.
            for tap in (0..filter.len()).filter(|&tap| filter[tap].is_nan()).collect::<Vec<_>>() {
                let mut sum = T::ZERO;
                for at in of_channel.clone() {
                    let (x, y) = (self.plane(planes, at), &given[at * area..]);
                    let place = [tap / self.grid.filter[1], tap % self.grid.filter[1]];
                    self.grid.runs(place, |places, from| {
                        let x = x[from..].iter().step_by(self.grid.stride[1]);
                        y[places].iter().zip(x).for_each(|(&y, &x)| sum = sum + x * y);
                    });
                }
                filter[tap] = sum;
            }
        })
    }

    fn plane<'a, T>(&self, planes: &'a [T], at: usize) -> &'a [T] {
        let area = self.grid.image[0] * self.grid.image[1];
        &planes[at * area..][..area]
    }
}

/// Copies so many elements, which are so far apart.
fn spread<T: Element>(from: &[T], to: &mut [T], steps: [usize; 2], count: usize) {
    match steps {
        [1, 1] => to[..count].copy_from_slice(&from[..count]),
        // Pairs are taken apart by vectors.
        [2, 1] => {
            let pairs = from.as_chunks::<2>().0;
            let whole = count.min(pairs.len());
            to[..whole].iter_mut().zip(pairs).for_each(|(to, &[x, _])| *to = x);
            if whole < count {
                to[whole] = from[2 * whole];
            }
        }
        [step, apart] => {
            let to = to.iter_mut().step_by(apart).take(count);
            to.zip(from.iter().step_by(step)).for_each(|(to, &x)| *to = x);
        }
    }
}

/// Calls `task` on each part of a result, with its number and with memory for a field and a run, which are zeros before
/// the first part: several at a time where there are enough of them.
fn each<T: Element>(
    means: Means<'_>,
    result: &mut [T],
    part: usize,
    field: &Field,
    task: impl Fn(usize, &mut [T], &mut [T], &mut [T]) + Sync,
) -> Result<()> {
    let parts = result.len() / part;
    let share = if means.parallel { parts.div_ceil(4 * threads()) } else { parts };
    let room = field.len().saturating_add(field.run);
    let some = |(at, some): (usize, &mut [T])| {
        let memory = means.pool.take(room.saturating_mul(size_of::<T>()))?;
        // SAFETY: memory of this call alone, initialised and aligned, of so many elements.
        let memory = unsafe { slice::from_raw_parts_mut(memory.ptr().cast::<T>(), room) };
        memory.fill(T::ZERO);
        let (plane, run) = memory.split_at_mut(field.len());
        some.chunks_exact_mut(part).enumerate().for_each(|(i, part)| task(at * share + i, plane, run, part));
        Ok(())
    };
    if share < parts {
        return result.par_chunks_mut(part * share).enumerate().try_for_each(some);
    }
    some((0, result))
}

/// Writes a body over runs for each instruction set.
macro_rules! variants {
    ($(#[$doc:meta])* $name:ident $body:ident($w:ident: $W:ty, $run:ident: $Run:ty)) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// The processor has the level.
        unsafe fn $name<T: Element>(level: Level, taps: &[usize], x: &[T], $w: $W, $run: $Run) {
            /// # Safety
            /// The processor has these instructions.
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
            unsafe fn v4<T: Element>(taps: &[usize], x: &[T], $w: $W, $run: $Run) {
                $body::<true, T>(taps, x, $w, $run)
            }
            /// # Safety
            /// The processor has these instructions.
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            unsafe fn v3<T: Element>(taps: &[usize], x: &[T], $w: $W, $run: $Run) {
                $body::<true, T>(taps, x, $w, $run)
            }
            // SAFETY: the caller's promise.
            unsafe {
                match level {
                    #[cfg(target_arch = "x86_64")]
                    Level::V4 => v4(taps, x, $w, $run),
                    #[cfg(target_arch = "x86_64")]
                    Level::V3 => v3(taps, x, $w, $run),
                    _ => $body::<false, T>(taps, x, $w, $run),
                }
            }
        }
    };
}

variants! {
    /// Computes the run of sums of what a filter meets in a field.
    sums sums_of(w: &[T], run: &mut [T])
}
variants! {
    /// Adds to each element of a filter the products of what it meets in a field and of a run.
    dots dots_of(run: &[T], w: &mut [T])
}

#[inline(always)]
fn sums_of<const FMA: bool, T: Element>(taps: &[usize], x: &[T], w: &[T], run: &mut [T]) {
    for (i, run) in run.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
        let mut sums = [T::ZERO; LANES];
        for (&tap, &w) in taps.iter().zip(w) {
            let x = &x[tap + i * LANES..].as_chunks::<LANES>().0[0];
            for l in 0..LANES {
                sums[l] = w.fma::<FMA>(x[l], sums[l]);
            }
        }
        *run = sums;
    }
}

#[inline(always)]
fn dots_of<const FMA: bool, T: Element>(taps: &[usize], x: &[T], run: &[T], w: &mut [T]) {
    for (&tap, w) in taps.iter().zip(w) {
        let mut sums = [T::ZERO; LANES];
        for (y, x) in run.as_chunks::<LANES>().0.iter().zip(x[tap..].as_chunks::<LANES>().0) {
            for l in 0..LANES {
                sums[l] = y[l].fma::<FMA>(x[l], sums[l]);
            }
        }
        let mut half = LANES / 2;
        while half > 0 {
            for l in 0..half {
                sums[l] = sums[l] + sums[l + half];
            }
            half /= 2;
        }
        *w = *w + sums[0];
    }
}
