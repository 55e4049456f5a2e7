//! Few queries, as in decoding: bound by the memory of keys and values, which are read once for a query.
#![allow(unsafe_code, reason = "makes slices of verified memory")]

use super::Problem;
use super::forward::Results;
use super::product::Lanes;
use super::real::{Real, exp};
use super::scores::{Masks, mask_row};
use super::tile::Tile;
use crate::gemm::Matrix;
use crate::memory::Pool;
use cotangent_hal::Result;
use cotangent_hal::native::{Float, lanes};
use std::ops::Range;
use std::slice;
use std::sync::Arc;

/// The most queries of a head that are handled one by one.
pub(super) const MOST: usize = 4;
/// Keys whose scores are known at once.
const KEYS: usize = super::scores::KEYS;

/// The queries in a range of all of them: those of the first head of the first batch come first.
///
/// # Safety
/// The processor has the instructions of `L`. The elements of the operands may be read, those of the results are distinct
/// and the caller's alone.
#[inline(always)]
pub(super) unsafe fn rows<L: Lanes>(
    pool: &Arc<Pool>,
    problem: &Problem,
    results: Results,
    rows: Range<usize>,
) -> Result<()> {
    let Problem { depth, width, .. } = *problem;
    let mut query = Tile::<L::Real>::new(pool, 1, depth)?;
    let mut out = Tile::<L::Real>::new(pool, 1, width)?;
    let (mut key_tile, mut value_tile) = (Tile::new(pool, KEYS, depth)?, Tile::new(pool, KEYS, width)?);
    let mut masks = Masks::new(pool, problem)?;
    for number in rows {
        let (head, i) = (number / problem.queries, number % problem.queries);
        let head = [head / problem.heads, head % problem.heads];
        let scale = L::Real::of(problem.scale);
        // SAFETY: the caller's promise.
        unsafe { query.gather(problem.q.part(head, i, [1, depth])) };
        query.rows(1).iter_mut().for_each(|x| *x = *x * scale);
        out.rows(1).fill(L::Real::ZERO);
        let (mut largest, mut sum) = (-L::Real::INFINITY, L::Real::ZERO);
        let seen = if problem.causal { problem.keys.min(i + 1) } else { problem.keys };
        for j in (0..seen).step_by(KEYS) {
            let count = KEYS.min(seen - j);
            let mut scores = [L::Real::ZERO; KEYS];
            let scores = &mut scores[..count];
            let shared = problem.shared(head);
            // SAFETY: the caller's promise; both have contiguous rows.
            unsafe {
                let keys = problem.k.part(shared, j, [count, depth]).right(&mut key_tile);
                for (j, score) in scores.iter_mut().enumerate() {
                    *score = dot::<L>(query.rows(1), row(keys, j, depth));
                }
                mask_row(problem, head, [i, j], scores, &mut masks);
                let values = problem.v.part(shared, j, [count, width]).right(&mut value_tile);
                let more = scores.iter().fold(largest, |m, &x| if x > m { x } else { m });
                let base = if more == -L::Real::INFINITY { L::Real::ZERO } else { more };
                let factor = (largest - base).exp::<false>();
                largest = more;
                for score in scores.iter_mut() {
                    *score = exp::<L>(*score - base);
                }
                sum = scores.iter().fold(sum * factor, |sum, &x| sum + x);
                let out = out.rows(1);
                out.iter_mut().for_each(|x| *x = *x * factor);
                add_rows::<L>(scores, values, out);
            }
        }
        let inverse = if sum == L::Real::ZERO { sum } else { L::Real::of(1.0) / sum };
        out.rows(1).iter_mut().for_each(|x| *x = *x * inverse);
        let lse = largest + sum.log::<false>();
        // SAFETY: the caller's promise; logarithms are of the dtype that is computed in.
        unsafe {
            out.scatter(results.out.part(head, i, [1, width]));
            results.lse.part(head, i, [1, 1]).ptr.cast::<L::Real>().write(lse);
        }
    }
    Ok(())
}

/// # Safety
/// Row `i` has `len` contiguous elements that may be read.
#[inline(always)]
unsafe fn row<'a, T>(matrix: Matrix<T>, i: usize, len: usize) -> &'a [T] {
    // SAFETY: the caller's promise.
    unsafe { slice::from_raw_parts(matrix.from(i, 0).ptr, len) }
}

/// Adds rows of values, each times its weight, four at once.
///
/// # Safety
/// There is a row of as many contiguous elements as `out` has for each weight, which may be read.
#[inline(always)]
unsafe fn add_rows<L: Lanes>(weights: &[L::Real], values: Matrix<L::Real>, out: &mut [L::Real]) {
    let len = out.len();
    let (fours, rest) = weights.as_chunks::<4>();
    for (number, &[p, q, r, s]) in fours.iter().enumerate() {
        // SAFETY: the caller's promise.
        let [a, b, c, d] = [0, 1, 2, 3].map(|i| unsafe { row(values, 4 * number + i, len) });
        for i in 0..len {
            out[i] = fma::<L>(s, d[i], fma::<L>(r, c[i], fma::<L>(q, b[i], fma::<L>(p, a[i], out[i]))));
        }
    }
    for (number, &p) in rest.iter().enumerate() {
        // SAFETY: the caller's promise.
        let a = unsafe { row(values, 4 * fours.len() + number, len) };
        for i in 0..len {
            out[i] = fma::<L>(p, a[i], out[i]);
        }
    }
}

#[inline(always)]
fn fma<L: Lanes>(a: L::Real, b: L::Real, c: L::Real) -> L::Real {
    if L::FMA { a.fma::<true>(b, c) } else { a.fma::<false>(b, c) }
}

#[inline(always)]
fn dot<L: Lanes>(a: &[L::Real], b: &[L::Real]) -> L::Real {
    if L::FMA { lanes::dot::<true, _>(a, b) } else { lanes::dot::<false, _>(a, b) }
}
