//! Convolutions as products of matrices, of which that of the images is never made.
#![allow(unsafe_code, reason = "hands verified memory to products")]

use super::patches::{Grid, Padded, Patches, Planes, Turned};
use super::{Extents, grid, turned};
use crate::backend::threads;
use crate::gemm::{self, Element, Epilogue, Factor, Matrix, Output, Product, Stored, Strided, in_parts};
use crate::memory::Pool;
use cotangent_hal::native::Level;
use cotangent_hal::{Result, Window};
use rayon::prelude::*;
use std::slice;
use std::sync::Arc;

/// Places of all images, at least, and elements of filters, at most, for which sums over places are cut into parts.
const LONG: usize = 1024;
const FEW: usize = 1 << 18;

/// What convolutions run with.
#[derive(Clone, Copy)]
pub(super) struct Means<'a> {
    pub(super) pool: &'a Arc<Pool>,
    pub(super) level: Level,
    pub(super) parallel: bool,
}

/// Images, the filters of each group, and what becomes of their planes.
struct Filtered<'a, T> {
    grid: Grid,
    groups: usize,
    /// Channels of a group, and its filters.
    channels: usize,
    filters: usize,
    images: &'a [T],
    weights: &'a [T],
    epilogue: Epilogue<T>,
}

/// `y` from `x` and `w`.
pub(super) fn output<T: Element + Stored<Computed = T>>(
    means: Means<'_>,
    extents: &Extents,
    window: &Window,
    [images, weights]: [&[T]; 2],
    epilogue: Epilogue<T>,
    y: &mut [T],
) -> Result<()> {
    let &Extents { groups, channels, filters, .. } = extents;
    let grid = grid(extents, window);
    Filtered { grid, groups, channels, filters, images, weights, epilogue }.run(means, y)
}

/// `x` from `w` and `y`.
pub(super) fn input<T: Element + Stored<Computed = T>>(
    means: Means<'_>,
    extents: &Extents,
    window: &Window,
    [w, y]: [&[T]; 2],
    epilogue: Epilogue<T>,
    x: &mut [T],
) -> Result<()> {
    // Either way is a product of the same size. Packing what filters meet takes longer than adding up what places give,
    // which is less where there are fewer channels than filters. Images that are met as they lie are not packed.
    let (few, lies) = (extents.channels <= 2 * extents.filters, grid(extents, window).is_identity());
    if window.stride == [1, 1] && (lies || !few) {
        flipped(means, extents, window, [w, y], epilogue, x)
    } else {
        scattered(means, extents, window, [w, y], epilogue, x)
    }
}

/// `w` from `x` and `y`.
pub(super) fn weight<T: Element + Stored<Computed = T>>(
    means: Means<'_>,
    extents: &Extents,
    window: &Window,
    [x, y]: [&[T]; 2],
    w: &mut [T],
) -> Result<()> {
    let &Extents { images, groups, channels, filters, filter, .. } = extents;
    let padded = Padded::new(means.pool, grid(extents, window), (images * groups * channels, x), means.parallel)?;
    let (level, grid, x) = (means.level, padded.grid, padded.images());
    let (area, plane, taps) = (grid.area(), grid.image[0] * grid.image[1], channels * filter[0] * filter[1]);
    let shape = gemm::Extents { m: filters, n: taps, k: images * area };
    each(means, w, filters * taps, |group, w, means| {
        // Without images there is nothing to begin at.
        let at = |all: usize, size: usize| if images == 0 { 0 } else { group * all * size };
        let a = Planes { level, images: &y[at(filters, area)..], area, step: groups * filters * area };
        let step = groups * channels * plane;
        let b = Turned(Patches { level, grid, images: &x[at(channels, plane)..], step });
        let out = place(w, taps, Epilogue::NONE);
        // SAFETY: the factors are slices, and the place is a slice of this call alone; the processor has the level.
        unsafe {
            if shape.k < LONG || filters * taps > FEW {
                return Product { extents: shape, a: &a, b: &b, out }.run(means.pool, level, means.parallel);
            }
            in_parts(means.pool, level, shape, out, means.parallel, |terms, out| {
                let (a, b) = (From(&a, terms.start), From(&b, terms.start));
                let extents = gemm::Extents { k: terms.len(), ..shape };
                Product { extents, a: &a, b: &b, out }.run(means.pool, level, false)
            })
        }
    })
}

/// A factor from a term on.
struct From<'a, T>(&'a dyn Factor<T>, usize);

impl<T: Element> Factor<T> for From<'_, T> {
    fn matrix(&self) -> Option<Matrix<T>> {
        self.0.matrix().map(|matrix| matrix.from(0, self.1))
    }

    unsafe fn pack(&self, lanes: std::ops::Range<usize>, terms: std::ops::Range<usize>, to: gemm::Panels<T>) {
        // SAFETY: the caller's promise, for the same elements.
        unsafe { self.0.pack(lanes, terms.start + self.1..terms.end + self.1, to) }
    }
}

/// `x` where filters move in steps of one: the convolution of `y` with the filters turned round, channels and filters
/// exchanged.
fn flipped<T: Element + Stored<Computed = T>>(
    means: Means<'_>,
    extents: &Extents,
    window: &Window,
    [w, y]: [&[T]; 2],
    epilogue: Epilogue<T>,
    x: &mut [T],
) -> Result<()> {
    let &Extents { groups, channels, filters, filter, .. } = extents;
    let area = filter[0] * filter[1];
    let memory = means.pool.take(size_of_val(w))?;
    // SAFETY: memory of this call alone, initialised and aligned.
    let weights = unsafe { slice::from_raw_parts_mut(memory.ptr().cast::<T>(), w.len()) };
    for (i, filter) in w.chunks_exact(area.max(1)).enumerate() {
        let (group, o, c) = (i / (filters * channels), i / channels % filters, i % channels);
        let to = ((group * channels + c) * filters + o) * area;
        weights[to..to + area].iter_mut().zip(filter.iter().rev()).for_each(|(to, &w)| *to = w);
    }
    let grid = turned(extents, window);
    Filtered { grid, groups, channels: filters, filters: channels, images: y, weights, epilogue }.run(means, x)
}

/// `x` where filters move in longer steps: what each place gives to each element that it meets, by a product, then added
/// up.
fn scattered<T: Element + Stored<Computed = T>>(
    means: Means<'_>,
    extents: &Extents,
    window: &Window,
    [w, y]: [&[T]; 2],
    epilogue: Epilogue<T>,
    x: &mut [T],
) -> Result<()> {
    let &Extents { groups, channels, filters, image, filter, .. } = extents;
    let (level, grid) = (means.level, grid(extents, window));
    let (area, plane) = (grid.area(), image[0] * image[1]);
    let taps = channels * filter[0] * filter[1];
    let shape = gemm::Extents { m: taps, n: area, k: filters };
    each(means, x, channels * plane, |i, x, means| {
        let memory = means.pool.take(taps * area * size_of::<T>())?;
        // SAFETY: memory of this call alone, initialised and aligned.
        let given = unsafe { slice::from_raw_parts_mut(memory.ptr().cast::<T>(), taps * area) };
        let matrix =
            |x: &[T], columns: usize| Matrix { ptr: x.as_ptr().cast_mut(), rows: 1, columns: columns as isize };
        let a = Strided { level, matrix: matrix(&w[i % groups * filters * taps..], taps) };
        let b = Strided { level, matrix: matrix(&y[i * filters * area..], area) };
        let out = place(given, area, Epilogue::NONE);
        // SAFETY: the factors are parts of slices, and the place is memory of this call alone.
        unsafe { Product { extents: shape, a: &a, b: &b, out }.run(means.pool, level, means.parallel)? };
        // SAFETY: the processor has the level.
        unsafe {
            match level {
                #[cfg(target_arch = "x86_64")]
                Level::V3 | Level::V4 => collect_v3(&grid, given, x),
                _ => collect(&grid, given, x),
            }
        }
        let sums = Matrix { ptr: x.as_mut_ptr(), rows: plane as isize, columns: 1 };
        // SAFETY: the planes of the image, this task's alone, and a number of the bias for each.
        unsafe { epilogue.from(i % groups * channels, 0).apply(level, sums, [channels, plane]) };
        Ok(())
    })
}

/// # Safety
/// The processor has these instructions.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn collect_v3<T: Element>(grid: &Grid, given: &[T], x: &mut [T]) {
    collect(grid, given, x)
}

/// Adds up what places give to each element of an image that they meet.
#[inline(always)]
fn collect<T: Element>(grid: &Grid, given: &[T], x: &mut [T]) {
    let ([height, width], area) = (grid.filter, grid.area());
    for (channel, x) in x.chunks_exact_mut(grid.image[0] * grid.image[1]).enumerate() {
        x.fill(T::ZERO);
        for tap in 0..height * width {
            let given = &given[(channel * height * width + tap) * area..][..area];
            grid.runs([tap / width, tap % width], |run, to| add(&given[run], &mut x[to..], grid.stride[1]));
        }
    }
}

/// Adds elements to those of `x` that lie `step` apart.
#[inline(always)]
fn add<T: Element>(given: &[T], x: &mut [T], step: usize) {
    if step == 1 {
        given.iter().zip(x).for_each(|(&y, x)| *x = *x + y);
    } else {
        given.iter().zip(x.iter_mut().step_by(step)).for_each(|(&y, x)| *x = *x + y);
    }
}

impl<T: Element + Stored<Computed = T>> Filtered<'_, T> {
    /// Computes the planes that the filters make of the images.
    fn run(&self, means: Means<'_>, planes: &mut [T]) -> Result<()> {
        let Filtered { grid, groups, channels, filters, images, weights, epilogue } = *self;
        let count = planes.len() / (filters * grid.area()) * channels;
        let padded = Padded::new(means.pool, grid, (count, images), means.parallel)?;
        let (grid, images) = (padded.grid, padded.images());
        let (level, area, plane) = (means.level, grid.area(), grid.image[0] * grid.image[1]);
        let k = channels * grid.filter[0] * grid.filter[1];
        let extents = gemm::Extents { m: filters, n: area, k };
        each(means, planes, filters * area, |i, planes, means| {
            let group = i % groups;
            let images = &images[i * channels * plane..];
            let ptr = weights[group * filters * k..].as_ptr().cast_mut();
            let a = Strided { level, matrix: Matrix { ptr, rows: k as isize, columns: 1 } };
            let matrix = Matrix { ptr: images.as_ptr().cast_mut(), rows: 1, columns: plane as isize };
            let whole = Strided { level, matrix };
            let patches = Patches { level, grid, images, step: 0 };
            let out = place(planes, area, epilogue.from(group * filters, 0));
            let b: &dyn Factor<T> = if grid.is_identity() { &whole } else { &patches };
            // SAFETY: the factors are parts of slices, and the place is a slice of this call alone; the processor has
            // the level.
            unsafe { Product { extents, a: &a, b, out }.run(means.pool, level, means.parallel) }
        })
    }
}

/// The rows of a matrix in a slice as the place of a product.
fn place<T: Element>(rows: &mut [T], columns: usize, epilogue: Epilogue<T>) -> Output<T> {
    let matrix = Matrix { ptr: rows.as_mut_ptr().cast(), rows: columns as isize, columns: 1 };
    Output { dtype: T::DTYPE, matrix, epilogue }
}

/// Calls `task` on each part of a result that is not empty: several at a time where there are enough of them, else one
/// after another, each by several threads.
fn each<T: Element>(
    means: Means<'_>,
    result: &mut [T],
    part: usize,
    task: impl Fn(usize, &mut [T], Means<'_>) -> Result<()> + Send + Sync,
) -> Result<()> {
    let one = Means { parallel: false, ..means };
    if means.parallel && result.len() / part >= 4 * threads() {
        return result.par_chunks_exact_mut(part).enumerate().try_for_each(|(i, part)| task(i, part, one));
    }
    result.chunks_exact_mut(part).enumerate().try_for_each(|(i, part)| task(i, part, means))
}
