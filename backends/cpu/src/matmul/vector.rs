//! Products of a row and a matrix, bound by memory: dot products of rows, or sums of rows.
#![allow(unsafe_code, reason = "makes slices of verified raw memory and calls variants that the processor has")]

use super::{Extents, Matrix};
use crate::memory::Pool;
use crate::strided::{self, Side};
use cotangent_hal::native::{Float, Level, lanes};
use cotangent_hal::{DType, Result};
use rayon::prelude::*;
use std::slice;
use std::sync::Arc;

/// Columns whose sums are kept in cache while the rows go by.
const COLUMNS: usize = 512;
/// Dot products of a task.
const DOTS: usize = 32;

/// Whether products of `m` rows with the matrix `b` are this module's.
pub(super) fn fits(m: usize, b: Matrix<f32>) -> bool {
    m == 1 && (b.columns == 1 || b.rows == 1)
}

/// `c = a b` for one row where it [`fits`].
///
/// # Safety
/// The elements of `a` and `b` may be read, those of `c` are distinct, overlap neither, and are the caller's alone.
pub(super) unsafe fn product(
    pool: &Arc<Pool>,
    level: Level,
    Extents { n, k, .. }: Extents,
    a: Matrix<f32>,
    b: Matrix<f32>,
    c: Matrix<f32>,
    parallel: bool,
) -> Result<()> {
    let copy = if a.columns == 1 || k == 1 { None } else { Some(pool.take(k * size_of::<f32>())?) };
    let x = match &copy {
        Some(copy) => {
            let target = Side { ptr: copy.ptr(), strides: &[1] };
            let source = Side { ptr: a.ptr.cast(), strides: &[a.columns] };
            // SAFETY: the elements of `a` may be read, and the copy has room for them.
            unsafe { strided::copy(DType::F32, &[k], target, source) };
            copy.ptr().cast_const().cast()
        }
        None => a.ptr.cast_const(),
    };
    // SAFETY: the row of `a`, contiguous, that is only read while this function runs.
    let x = unsafe { slice::from_raw_parts(x, k) };
    let by_dots = b.rows == 1;
    let step = if by_dots { DOTS } else { COLUMNS };
    let body: Body = if by_dots { DOT_BODIES[level as usize] } else { SUM_BODIES[level as usize] };
    let block = |i: usize| {
        let from = i * step;
        let count = step.min(n - from);
        let mut sums = [0.0; COLUMNS];
        // SAFETY: columns `from .. from + count` of `b`; the processor has the level.
        unsafe { body(x, b.from(0, from), &mut sums[..count]) };
        for (j, &sum) in sums[..count].iter().enumerate() {
            // SAFETY: an element of `c` that this block alone writes.
            unsafe { c.from(0, from + j).ptr.write(sum) };
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

/// Adds `x b` to `y`, or sets it where the body says so.
pub(super) type Body<T = f32> = unsafe fn(&[T], Matrix<T>, &mut [T]);

/// The same text for each level.
macro_rules! levels {
    ($name:ident: $t:ident = $body:ident) => {
        pub(super) static $name: [Body<$t>; 3] = {
            /// # Safety
            /// As for the body.
            unsafe fn base(x: &[$t], b: Matrix<$t>, y: &mut [$t]) {
                // SAFETY: the caller's promise.
                unsafe { $body::<false, $t>(x, b, y) }
            }
            /// # Safety
            /// As for the body, on a processor of this level.
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            unsafe fn v3(x: &[$t], b: Matrix<$t>, y: &mut [$t]) {
                // SAFETY: the caller's promise.
                unsafe { $body::<true, $t>(x, b, y) }
            }
            /// # Safety
            /// As for the body, on a processor of this level.
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
            unsafe fn v4(x: &[$t], b: Matrix<$t>, y: &mut [$t]) {
                // SAFETY: the caller's promise.
                unsafe { $body::<true, $t>(x, b, y) }
            }
            #[cfg(not(target_arch = "x86_64"))]
            use {base as v3, base as v4};
            [base, v3, v4]
        };
    };
}

levels!(DOT_BODIES: f32 = dots);
levels!(SUM_BODIES: f32 = sums);
levels!(SUM_BODIES_64: f64 = sums);

/// Each element as the dot product of `x` with a contiguous column of `b`.
///
/// # Safety
/// `b` has `x.len()` rows, contiguous in each of at least `y.len()` columns, that may be read.
#[inline(always)]
unsafe fn dots<const FMA: bool, T: Float>(x: &[T], b: Matrix<T>, y: &mut [T]) {
    for (j, y) in y.iter_mut().enumerate() {
        // SAFETY: column `j`.
        let column = unsafe { slice::from_raw_parts(b.from(0, j).ptr, x.len()) };
        *y = lanes::dot::<FMA, _>(x, column);
    }
}

/// Adds to `y` the rows of `b`, each times its element of `x`.
///
/// # Safety
/// `b` has `x.len()` rows of at least `y.len()` contiguous elements that may be read.
#[inline(always)]
unsafe fn sums<const FMA: bool, T: Float>(x: &[T], b: Matrix<T>, y: &mut [T]) {
    let n = y.len();
    // SAFETY: the first `n` elements of row `i`.
    let row = |i: usize| unsafe { slice::from_raw_parts(b.from(i, 0).ptr, n) };
    let (fours, rest) = x.as_chunks::<4>();
    for (i, &[p, q, r, s]) in fours.iter().enumerate() {
        let (b0, b1, b2, b3) = (row(4 * i), row(4 * i + 1), row(4 * i + 2), row(4 * i + 3));
        for j in 0..n {
            let sum = p.fma::<FMA>(b0[j], y[j]);
            let sum = q.fma::<FMA>(b1[j], sum);
            let sum = r.fma::<FMA>(b2[j], sum);
            y[j] = s.fma::<FMA>(b3[j], sum);
        }
    }
    for (i, &p) in rest.iter().enumerate() {
        let b0 = row(4 * fours.len() + i);
        for j in 0..n {
            y[j] = p.fma::<FMA>(b0[j], y[j]);
        }
    }
}
