//! Convolutions with one filter for each channel, a plane of the result at a time. A product has nothing to share there:
//! each sum is kept in registers while its few terms go by. No sum is shared by two planes, so that the bits do not depend
//! on the threads.
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
    if window.stride == [1, 1] {
        let field = Field::new(turned(extents, window)).reversed();
        return field.convolve(means, extents.groups, [y, w], epilogue, x);
    }
    let (grid, taps) = (grid(extents, window), extents.filter[0] * extents.filter[1]);
    let (area, plane, step) = (grid.area(), grid.image[0] * grid.image[1], window.stride[1]);
    each(means, x, plane, 0, |at, _, x| {
        let channel = at % extents.groups;
        x.fill(T::ZERO);
        for (tap, &w) in w[channel * taps..][..taps].iter().enumerate() {
            let of_filter = [tap / grid.filter[1], tap % grid.filter[1]];
            grid.runs(of_filter, 0..area, |run, to| {
                let y = &y[at * area..][run];
                y.iter().zip(x[to..].iter_mut().step_by(step)).for_each(|(&y, x)| *x = *x + w * y);
            });
        }
        let matrix = Matrix { ptr: x.as_mut_ptr(), rows: plane as isize, columns: 1 };
        // SAFETY: the processor has the level; the plane is this task's alone, and the bias has its channel.
        unsafe { epilogue.from(channel, 0).apply(means.level, matrix, [1, plane]) };
    })
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

/// Planes that a filter moves over, laid out so that what one of its elements meets at neighbouring places are
/// neighbours: zeros around them, and the columns that are a step apart beside each other.
struct Field {
    grid: Grid,
    /// Places of a row that are computed side by side.
    lanes: usize,
    /// The remainders of columns by the step that elements of a filter meet. A row has a run for each of them.
    remainders: Vec<usize>,
    /// Elements of a run.
    run: usize,
    /// Rows.
    rows: usize,
    /// What the elements of a filter meet at the first place.
    taps: Vec<usize>,
}

impl Field {
    /// That of filters on a grid.
    fn new(grid: Grid) -> Field {
        let columns = grid.places[1];
        let wide = columns.next_multiple_of(32) == columns.next_multiple_of(16);
        let lanes = if columns <= 8 {
            8
        } else if wide {
            32
        } else {
            16
        };
        let ahead = |axis: usize| (0..grid.filter[axis]).map(move |k| k * grid.dilation[axis]);
        let mut remainders: Vec<usize> = ahead(1).map(|column| column % grid.stride[1]).collect();
        remainders.sort_unstable();
        remainders.dedup();
        let run = columns.next_multiple_of(lanes) + ahead(1).max().unwrap_or(0) / grid.stride[1];
        let rows = grid.places[0].saturating_sub(1) * grid.stride[0] + ahead(0).max().unwrap_or(0) + 1;
        let tap = |row: usize, column: usize| {
            let at = remainders.partition_point(|&r| r < column % grid.stride[1]);
            (row * remainders.len() + at).saturating_mul(run) + column / grid.stride[1]
        };
        let taps = ahead(0).flat_map(|row| ahead(1).map(move |column| (row, column)));
        let taps = taps.map(|(row, column)| tap(row, column)).collect();
        Field { grid, lanes, run, rows, taps, remainders }
    }

    /// The field of filters whose elements are in the opposite order.
    fn reversed(mut self) -> Field {
        self.taps.reverse();
        self
    }

    /// Elements of a row.
    fn row(&self) -> usize {
        self.remainders.len() * self.run
    }

    /// Elements of the field.
    fn len(&self) -> usize {
        self.rows.saturating_mul(self.row())
    }

    /// Lays out a plane in memory whose other elements are zeros.
    fn fill<T: Element>(&self, plane: &[T], to: &mut [T]) {
        let Grid { image: [height, width], stride: [_, step], padding, .. } = self.grid;
        for (i, row) in to.chunks_exact_mut(self.row().max(1)).enumerate() {
            let Some(at) = i.checked_add_signed(-padding[0]).filter(|&at| at < height) else { continue };
            let line = &plane[at * width..][..width];
            for (run, &remainder) in row.chunks_exact_mut(self.run).zip(&self.remainders) {
                // Element `j` of the run is column `j * step + remainder - padding`.
                let ahead = padding[1] - remainder as isize;
                let first = ahead.max(0).unsigned_abs().div_ceil(step);
                let column = (first * step).checked_add_signed(-ahead).unwrap_or(0);
                let (Some(run), Some(line)) = (run.get_mut(first..), line.get(column..)) else { continue };
                if step == 1 {
                    let count = run.len().min(line.len());
                    run[..count].copy_from_slice(&line[..count]);
                } else {
                    run.iter_mut().zip(line.iter().step_by(step)).for_each(|(to, &x)| *to = x);
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
        each(means, results, area, self.len(), |at, memory, result| {
            let channel = at % channels;
            self.fill(self.plane(planes, at), memory);
            let matrix = Matrix { ptr: result.as_mut_ptr(), rows: area as isize, columns: 1 };
            // SAFETY: the processor has the level; the plane is this task's alone, and the bias has its channel.
            unsafe {
                sums(means.level, self, memory, &filters[channel * taps..][..taps], result);
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
        let (area, columns) = (self.grid.area(), self.grid.places[1]);
        let images = if area == 0 { 0 } else { given.len() / (area * channels) };
        let room = self.grid.places[0].saturating_mul(self.pitch());
        each(means, filters, self.taps.len(), self.len().saturating_add(room), |channel, memory, filter| {
            let (field, rows) = memory.split_at_mut(self.len());
            filter.fill(T::ZERO);
            for at in (0..images).map(|i| i * channels + channel) {
                self.fill(self.plane(planes, at), field);
                let lines = given[at * area..][..area].chunks_exact(columns);
                rows.chunks_exact_mut(self.pitch()).zip(lines).for_each(|(to, y)| to[..columns].copy_from_slice(y));
                // SAFETY: the processor has the level.
                unsafe { dots(means.level, self, field, rows, filter) };
            }
        })
    }

    fn plane<'a, T>(&self, planes: &'a [T], at: usize) -> &'a [T] {
        let area = self.grid.image[0] * self.grid.image[1];
        &planes[at * area..][..area]
    }

    /// Elements of a row of results, whole lanes.
    fn pitch(&self) -> usize {
        self.grid.places[1].next_multiple_of(self.lanes)
    }
}

/// Calls `task` on each part of a result, with its number and memory of so many elements, which are zeros before the
/// first part: several at a time where there are enough of them.
fn each<T: Element>(
    means: Means<'_>,
    result: &mut [T],
    part: usize,
    room: usize,
    task: impl Fn(usize, &mut [T], &mut [T]) + Sync,
) -> Result<()> {
    let parts = result.len() / part;
    let share = if means.parallel { parts.div_ceil(4 * threads()) } else { parts };
    let some = |(at, some): (usize, &mut [T])| {
        let memory = means.pool.take(room.saturating_mul(size_of::<T>()))?;
        // SAFETY: memory of this call alone, initialised and aligned, of so many elements.
        let memory = unsafe { slice::from_raw_parts_mut(memory.ptr().cast::<T>(), room) };
        memory.fill(T::ZERO);
        some.chunks_exact_mut(part).enumerate().for_each(|(i, part)| task(at * share + i, memory, part));
        Ok(())
    };
    if share < parts {
        return result.par_chunks_mut(part * share).enumerate().try_for_each(some);
    }
    some((0, result))
}

/// Writes a body over a field for the number of lanes and the instruction set.
macro_rules! variants {
    ($(#[$doc:meta])* $name:ident $body:ident($x:ident: $X:ty, $w:ident: $W:ty, $y:ident: $Y:ty)) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// The processor has the level.
        unsafe fn $name<T: Element>(level: Level, field: &Field, $x: $X, $w: $W, $y: $Y) {
            /// # Safety
            /// The processor has these instructions.
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
            unsafe fn v4<T: Element>(field: &Field, $x: $X, $w: $W, $y: $Y) {
                lanes::<true, T>(field, $x, $w, $y)
            }
            /// # Safety
            /// The processor has these instructions.
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            unsafe fn v3<T: Element>(field: &Field, $x: $X, $w: $W, $y: $Y) {
                lanes::<true, T>(field, $x, $w, $y)
            }
            #[inline(always)]
            fn lanes<const FMA: bool, T: Element>(field: &Field, $x: $X, $w: $W, $y: $Y) {
                match field.lanes {
                    8 => $body::<FMA, 8, T>(field, $x, $w, $y),
                    16 => $body::<FMA, 16, T>(field, $x, $w, $y),
                    _ => $body::<FMA, 32, T>(field, $x, $w, $y),
                }
            }
            // SAFETY: the caller's promise.
            unsafe {
                match level {
                    #[cfg(target_arch = "x86_64")]
                    Level::V4 => v4(field, $x, $w, $y),
                    #[cfg(target_arch = "x86_64")]
                    Level::V3 => v3(field, $x, $w, $y),
                    _ => lanes::<false, T>(field, $x, $w, $y),
                }
            }
        }
    };
}

variants! {
    /// Computes what a filter makes of a field.
    sums sums_of(x: &[T], w: &[T], y: &mut [T])
}
variants! {
    /// Adds to each element of a filter the products of what it meets in a field and the results of these places, in rows
    /// of whole lanes.
    dots dots_of(x: &[T], y: &[T], w: &mut [T])
}

#[inline(always)]
fn sums_of<const FMA: bool, const N: usize, T: Element>(field: &Field, x: &[T], w: &[T], y: &mut [T]) {
    let step = field.grid.stride[0] * field.row();
    for (i, y) in y.chunks_exact_mut(field.grid.places[1]).enumerate() {
        for (j, y) in y.chunks_mut(N).enumerate() {
            let mut sums = [T::ZERO; N];
            for (&tap, &w) in field.taps.iter().zip(w) {
                let x = &x[i * step + j * N + tap..][..N];
                for l in 0..N {
                    sums[l] = w.fma::<FMA>(x[l], sums[l]);
                }
            }
            y.copy_from_slice(&sums[..y.len()]);
        }
    }
}

#[inline(always)]
fn dots_of<const FMA: bool, const N: usize, T: Element>(field: &Field, x: &[T], y: &[T], w: &mut [T]) {
    let (step, columns) = (field.grid.stride[0] * field.row(), field.grid.places[1]);
    for (&tap, w) in field.taps.iter().zip(w) {
        let mut sums = [T::ZERO; N];
        for (i, y) in y.chunks_exact(field.pitch()).enumerate() {
            for (j, y) in y.as_chunks::<N>().0.iter().enumerate() {
                let (x, some) = (&x[i * step + j * N + tap..][..N], columns - j * N);
                for l in 0..N {
                    // Behind the last column lies what other elements of the filter meet, which may be infinite.
                    let x = if l < some { x[l] } else { T::ZERO };
                    sums[l] = y[l].fma::<FMA>(x, sums[l]);
                }
            }
        }
        let mut half = N / 2;
        while half > 0 {
            for l in 0..half {
                sums[l] = sums[l] + sums[l + half];
            }
            half /= 2;
        }
        *w = *w + sums[0];
    }
}
