//! Products of a row and a matrix, bound by memory: dot products of rows, or sums of rows.
#![allow(unsafe_code, reason = "makes slices of verified raw memory and calls variants that the processor has")]

use super::{Extents, Matrix};
use crate::memory::Pool;
use crate::strided::{self, Side};
use cotangent_hal::native::{Level, lanes, math};
use cotangent_hal::{DType, Result};
use rayon::prelude::*;
use std::slice;
use std::sync::Arc;

/// Columns whose sums are kept in cache while the rows go by.
const COLUMNS: usize = 512;
/// Dot products of a task.
const DOTS: usize = 32;

/// Whether products of `m` rows with the matrix `b` are this module's.
pub(super) fn fits(m: usize, b: Matrix) -> bool {
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
    a: Matrix,
    b: Matrix,
    c: Matrix,
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

/// Computes the first `y.len()` elements of `x b`.
type Body = unsafe fn(&[f32], Matrix, &mut [f32]);

/// The same text for each level.
macro_rules! levels {
    ($name:ident = $body:ident) => {
        static $name: [Body; 3] = {
            /// # Safety
            /// As for the body.
            unsafe fn base(x: &[f32], b: Matrix, y: &mut [f32]) {
                // SAFETY: the caller's promise.
                unsafe { $body::<false>(x, b, y) }
            }
            /// # Safety
            /// As for the body, on a processor of this level.
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            unsafe fn v3(x: &[f32], b: Matrix, y: &mut [f32]) {
                // SAFETY: the caller's promise.
                unsafe { $body::<true>(x, b, y) }
            }
            /// # Safety
            /// As for the body, on a processor of this level.
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
            unsafe fn v4(x: &[f32], b: Matrix, y: &mut [f32]) {
                // SAFETY: the caller's promise.
                unsafe { $body::<true>(x, b, y) }
            }
            #[cfg(not(target_arch = "x86_64"))]
            use {base as v3, base as v4};
            [base, v3, v4]
        };
    };
}

levels!(DOT_BODIES = dots);
levels!(SUM_BODIES = sums);

/// Each element as the dot product of `x` with a contiguous column of `b`.
///
/// # Safety
/// `b` has `x.len()` rows, contiguous in each of at least `y.len()` columns, that may be read.
#[inline(always)]
unsafe fn dots<const FMA: bool>(x: &[f32], b: Matrix, y: &mut [f32]) {
    for (j, y) in y.iter_mut().enumerate() {
        // SAFETY: column `j`.
        let column = unsafe { slice::from_raw_parts(b.from(0, j).ptr, x.len()) };
        *y = lanes::dot::<FMA>(x, column);
    }
}

/// All elements as the sum of the rows of `b`, each times its element of `x`.
///
/// # Safety
/// `b` has `x.len()` rows of at least `y.len()` contiguous elements that may be read.
#[inline(always)]
unsafe fn sums<const FMA: bool>(x: &[f32], b: Matrix, y: &mut [f32]) {
    let n = y.len();
    // SAFETY: the first `n` elements of row `i`.
    let row = |i: usize| unsafe { slice::from_raw_parts(b.from(i, 0).ptr, n) };
    let (fours, rest) = x.as_chunks::<4>();
    for (i, &[p, q, r, s]) in fours.iter().enumerate() {
        let (b0, b1, b2, b3) = (row(4 * i), row(4 * i + 1), row(4 * i + 2), row(4 * i + 3));
        for j in 0..n {
            let sum = math::fma::<FMA>(p, b0[j], y[j]);
            let sum = math::fma::<FMA>(q, b1[j], sum);
            let sum = math::fma::<FMA>(r, b2[j], sum);
            y[j] = math::fma::<FMA>(s, b3[j], sum);
        }
    }
    for (i, &p) in rest.iter().enumerate() {
        let b0 = row(4 * fours.len() + i);
        for j in 0..n {
            y[j] = math::fma::<FMA>(p, b0[j], y[j]);
        }
    }
}
