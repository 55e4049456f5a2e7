//! Products of a row and a matrix, bound by memory: dot products of rows, or sums of rows. Elements are converted a
//! block at a time, so that each is read once, as it is stored.
#![allow(unsafe_code, reason = "makes slices of verified raw memory and calls variants that the processor has")]

use crate::gemm::{Extents, Matrix, Output, Stored};
use crate::memory::Pool;
use cotangent_hal::Result;
use cotangent_hal::native::{Float, Level};
use rayon::prelude::*;
use std::slice;
use std::sync::Arc;

/// Columns whose sums are kept in cache while the rows go by.
const COLUMNS: usize = 1024;
/// Dot products of a task.
const DOTS: usize = 32;
/// Partial sums of a dot product.
const LANES: usize = 64;

/// Whether products of these extents with the matrix `b` are this module's.
pub(super) fn fits<S>(Extents { m, k, .. }: Extents, b: Matrix<S>) -> bool {
    m == 1 && k > 0 && (b.columns == 1 || b.rows == 1)
}

/// Whether these are so many dot products that there are enough tasks.
pub(super) fn shares<S>(extents: Extents, b: Matrix<S>) -> bool {
    b.rows == 1 && extents.n > DOTS && fits(extents, b)
}

/// `out = a b` for one row where it [`fits`].
///
/// # Safety
/// The elements of `a` and `b` may be read, those of `out` are distinct, overlap neither, and are the caller's alone; the
/// processor has the level.
pub(super) unsafe fn product<S: Stored>(
    pool: &Arc<Pool>,
    level: Level,
    Extents { n, k, .. }: Extents,
    a: Matrix<S>,
    b: Matrix<S>,
    out: Output<S::Computed>,
    parallel: bool,
) -> Result<()> {
    let copy;
    let x = match S::as_computed(a) {
        Some(a) if a.columns == 1 || k == 1 => a.ptr,
        _ => {
            copy = pool.take(k * size_of::<S::Computed>())?;
            let x = copy.ptr().cast::<S::Computed>();
            for l in 0..k {
                // SAFETY: an element of `a`, and its place in the copy.
                unsafe { x.add(l).write(a.from(0, l).ptr.read().value()) };
            }
            x
        }
    };
    // SAFETY: the row of `a`, contiguous, that is only read while this function runs.
    let x = unsafe { slice::from_raw_parts(x.cast_const(), k) };
    let step = if b.rows == 1 { DOTS } else { COLUMNS };
    let block = |i: usize| {
        let from = i * step;
        let count = step.min(n - from);
        let mut sums = [S::Computed::ZERO; COLUMNS];
        let row = Matrix { ptr: sums.as_mut_ptr(), rows: 0, columns: 1 };
        // SAFETY: columns `from .. from + count` of `b`, and elements of the product that this block alone writes.
        unsafe {
            body(level, x, b.from(0, from), &mut sums[..count]);
            out.from(0, from).finish(level, row, [1, count]);
        }
    };
    let blocks = n.div_ceil(step);
    if parallel && blocks > 1 {
        (0..blocks).into_par_iter().with_min_len(blocks.div_ceil(64)).for_each(block);
    } else {
        (0..blocks).for_each(block);
    }
    Ok(())
}

/// Adds `x b` to `y`.
///
/// # Safety
/// `b` has `x.len()` rows and `y.len()` columns that may be read, and the processor has the level.
unsafe fn body<S: Stored>(level: Level, x: &[S::Computed], b: Matrix<S>, y: &mut [S::Computed]) {
    // SAFETY: the caller's promise.
    unsafe {
        match level {
            #[cfg(target_arch = "x86_64")]
            Level::V4 => v4(x, b, y),
            #[cfg(target_arch = "x86_64")]
            Level::V3 => v3(x, b, y),
            _ => either::<false, S>(x, b, y),
        }
    }
}

/// # Safety
/// As for [`body`], on a processor of this level.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn v3<S: Stored>(x: &[S::Computed], b: Matrix<S>, y: &mut [S::Computed]) {
    // SAFETY: the caller's promise.
    unsafe { either::<true, S>(x, b, y) }
}

/// # Safety
/// As for [`body`], on a processor of this level.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
unsafe fn v4<S: Stored>(x: &[S::Computed], b: Matrix<S>, y: &mut [S::Computed]) {
    // SAFETY: the caller's promise.
    unsafe { either::<true, S>(x, b, y) }
}

/// # Safety
/// As for [`body`].
#[inline(always)]
unsafe fn either<const FMA: bool, S: Stored>(x: &[S::Computed], b: Matrix<S>, y: &mut [S::Computed]) {
    // SAFETY: the caller's promise.
    unsafe { if b.rows == 1 { dots::<FMA, S>(x, b, y) } else { sums::<FMA, S>(x, b, y) } }
}

/// Adds to each element of `y` the dot product of `x` with a contiguous column of `b`.
///
/// # Safety
/// As for [`body`].
#[inline(always)]
unsafe fn dots<const FMA: bool, S: Stored>(x: &[S::Computed], b: Matrix<S>, y: &mut [S::Computed]) {
    let (fours, rest) = y.as_chunks_mut::<4>();
    let last = b.from(0, 4 * fours.len());
    for (j, y) in fours.iter_mut().enumerate() {
        // SAFETY: the columns of these elements.
        unsafe { dots_of::<FMA, S, 4>(x, b.from(0, 4 * j), y) };
    }
    for (j, y) in rest.iter_mut().enumerate() {
        // SAFETY: the column of this element.
        unsafe { dots_of::<FMA, S, 1>(x, last.from(0, j), slice::from_mut(y)) };
    }
}

/// As [`dots`] for `N` columns, which are read side by side: more of them are on the way from memory at a time.
///
/// # Safety
/// As for [`body`].
#[inline(always)]
unsafe fn dots_of<const FMA: bool, S: Stored, const N: usize>(x: &[S::Computed], b: Matrix<S>, y: &mut [S::Computed]) {
    let mut sums = [[S::Computed::ZERO; LANES]; N];
    let (runs, rest) = x.as_chunks::<LANES>();
    for (l, x) in runs.iter().enumerate() {
        for (j, sums) in sums.iter_mut().enumerate() {
            // SAFETY: a run of column `j`.
            let column = unsafe { b.from(l * LANES, j).ptr.cast::<[S; LANES]>().read_unaligned() };
            for i in 0..LANES {
                sums[i] = x[i].fma::<FMA>(column[i].value(), sums[i]);
            }
        }
    }
    for (j, (y, mut sums)) in y.iter_mut().zip(sums).enumerate() {
        let mut half = LANES / 2;
        while half > 0 {
            for i in 0..half {
                sums[i] = sums[i] + sums[i + half];
            }
            half /= 2;
        }
        let mut sum = *y + sums[0];
        for (l, &x) in rest.iter().enumerate() {
            // SAFETY: an element of column `j`.
            let element = unsafe { b.from(runs.len() * LANES + l, j).ptr.read() };
            sum = x.fma::<FMA>(element.value(), sum);
        }
        *y = sum;
    }
}

/// Adds to `y` the rows of `b`, each times its element of `x`.
///
/// # Safety
/// As for [`body`], with at most `COLUMNS` columns, contiguous in each row.
#[inline(always)]
unsafe fn sums<const FMA: bool, S: Stored>(x: &[S::Computed], b: Matrix<S>, y: &mut [S::Computed]) {
    let n = y.len();
    let mut room = [[S::Computed::ZERO; COLUMNS]; 4];
    let (fours, rest) = x.as_chunks::<4>();
    for (i, &[p, q, r, s]) in fours.iter().enumerate() {
        let [r0, r1, r2, r3] = &mut room;
        // SAFETY: the first `n` elements of each of four rows.
        let [b0, b1, b2, b3] = unsafe {
            let row = |l: usize| b.from(4 * i + l, 0);
            [read(row(0), n, r0), read(row(1), n, r1), read(row(2), n, r2), read(row(3), n, r3)]
        };
        for j in 0..n {
            let sum = p.fma::<FMA>(b0[j], y[j]);
            let sum = q.fma::<FMA>(b1[j], sum);
            let sum = r.fma::<FMA>(b2[j], sum);
            y[j] = s.fma::<FMA>(b3[j], sum);
        }
    }
    for (i, &p) in rest.iter().enumerate() {
        // SAFETY: the first `n` elements of a row.
        let b0 = unsafe { read(b.from(4 * fours.len() + i, 0), n, &mut room[0]) };
        for j in 0..n {
            y[j] = p.fma::<FMA>(b0[j], y[j]);
        }
    }
}

/// The first `n` elements of the line at `from` as they are computed with: themselves, or converted in `room`.
///
/// # Safety
/// They may be read while the slice lives, and `room` is as long where they are converted.
#[inline(always)]
unsafe fn read<S: Stored>(from: Matrix<S>, n: usize, room: &mut [S::Computed]) -> &[S::Computed] {
    // SAFETY: the caller's promise.
    unsafe {
        if let Some(line) = S::as_computed(from) {
            return slice::from_raw_parts(line.ptr, n);
        }
        let room = &mut room[..n];
        room.iter_mut().zip(slice::from_raw_parts(from.ptr, n)).for_each(|(x, s)| *x = s.value());
        room
    }
}
