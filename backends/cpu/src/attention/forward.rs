//! The forward pass: a block of queries sees the keys tile by tile, and what it has summed so far is scaled down whenever
//! a larger score comes (Dao et al., 2022).
#![allow(unsafe_code, reason = "calls the products of tiles")]

use super::Problem;
use super::product::{Extents, Lanes, product};
use super::real::{Real, exp};
use super::scores::{KEYS, Masks, QUERIES, Window, scores};
use super::tile::{Stack, Tile};
use crate::memory::Pool;
use cotangent_hal::Result;
use cotangent_hal::native::Float;
use std::ops::Range;
use std::sync::Arc;

/// Where the results go.
#[derive(Clone, Copy)]
pub(super) struct Results {
    pub out: Stack,
    /// As the results, with one column.
    pub lse: Stack,
}

/// Scratch of one thread.
struct Scratch<T> {
    /// Queries across, scaled.
    queries: Tile<T>,
    keys: Tile<T>,
    values: Tile<T>,
    scores: Tile<T>,
    masks: Masks<T>,
    /// Queries across.
    out: Tile<T>,
    /// The largest score of each query, and the sum of the exponentials of its scores less that one.
    rows: Rows<T>,
}

struct Rows<T> {
    largest: [T; QUERIES],
    sum: [T; QUERIES],
}

/// The blocks of queries in a range of all of them: those of the first head of the first batch come first.
///
/// # Safety
/// The processor has the instructions of `L`. The elements of the operands may be read, those of the results are distinct
/// and the caller's alone.
#[inline(always)]
pub(super) unsafe fn blocks<L: Lanes>(
    pool: &Arc<Pool>,
    problem: &Problem,
    results: Results,
    blocks: Range<usize>,
) -> Result<()> {
    let width = QUERIES.min(problem.queries.next_multiple_of(L::panel()));
    let tile = |rows: usize, pitch: usize| Tile::new(pool, rows, pitch);
    let mut scratch = Scratch {
        queries: tile(problem.depth, width)?,
        keys: tile(KEYS, problem.depth)?,
        values: tile(KEYS, problem.width)?,
        scores: tile(KEYS, width)?,
        masks: Masks::new(pool, problem)?,
        out: tile(problem.width, width)?,
        rows: Rows { largest: [L::Real::ZERO; QUERIES], sum: [L::Real::ZERO; QUERIES] },
    };
    let of_head = problem.queries.div_ceil(QUERIES);
    for number in blocks {
        let (head, i) = (number / of_head, number % of_head * QUERIES);
        let head = [head / problem.heads, head % problem.heads];
        // SAFETY: the caller's promise.
        unsafe { block::<L>(problem, results, head, i, &mut scratch) };
    }
    Ok(())
}

/// # Safety
/// As for [`blocks`].
#[inline(always)]
unsafe fn block<L: Lanes>(
    problem: &Problem,
    results: Results,
    head: [usize; 2],
    i: usize,
    scratch: &mut Scratch<L::Real>,
) {
    let Scratch { queries, keys: key_tile, values: value_tile, scores: tile, masks, out, rows } = scratch;
    let count = QUERIES.min(problem.queries - i);
    let pitch = count.next_multiple_of(L::panel());
    for tile in [&mut *queries, &mut *tile, &mut *out] {
        tile.set_pitch(pitch);
    }
    rows.largest = [-L::Real::INFINITY; QUERIES];
    rows.sum = [L::Real::ZERO; QUERIES];
    // SAFETY: the caller's promise.
    let q = unsafe { queries.gather(problem.q.part(head, i, [count, problem.depth]).transposed()) };
    let scale = L::Real::of(problem.scale);
    queries.rows(problem.depth).iter_mut().for_each(|x| *x = *x * scale);
    let seen = if problem.causal { problem.keys.min(i + count) } else { problem.keys };
    if seen == 0 {
        out.rows(problem.width).fill(L::Real::ZERO);
    }
    for j in (0..seen).step_by(KEYS) {
        let window = Window { head, i, queries: count, j, keys: KEYS.min(seen - j) };
        let shared = problem.shared(head);
        // SAFETY: the caller's promise; scratch has the extents of the problem, and tiles of scores and results have
        // whole panels.
        unsafe {
            let keys = problem.k.part(shared, j, [window.keys, problem.depth]).left(key_tile);
            let values = problem.v.part(shared, j, [window.keys, problem.width]).left(value_tile);
            scores::<L>(problem, window, keys, q, tile, masks);
            let sums = (j > 0).then(|| out.rows(problem.width));
            rows.absorb::<L>(tile.rows(window.keys), pitch, sums);
            let (weights, sums) = (tile.matrix(), out.matrix());
            for strip in window.strips(problem, pitch, L::panel()) {
                let extents = Extents { m: problem.width, n: strip.columns, k: strip.keys };
                let (weights, sums) = (weights.from(0, strip.column), sums.from(0, strip.column));
                product::<L>(extents, values.transposed(), weights, sums, j > 0);
            }
        }
    }
    let lse = rows.finish::<L>(out.rows(problem.width), pitch);
    queries.set_pitch(pitch);
    // SAFETY: the caller's promise; the tile of queries, which has at least one row where there is a depth, is not needed
    // any more.
    unsafe {
        out.scatter(results.out.part(head, i, [count, problem.width]).transposed());
        tile.rows(1).copy_from_slice(&lse[..pitch]);
        tile.scatter(results.lse.part(head, i, [count, 1]).transposed());
    }
}

impl<T: Real> Rows<T> {
    /// Turns scores into weights, and scales what was summed before, where there is something.
    #[inline(always)]
    fn absorb<L: Lanes<Real = T>>(&mut self, scores: &mut [T], pitch: usize, sums: Option<&mut [T]>) {
        let mut largest = self.largest;
        for row in scores.chunks_exact(pitch) {
            for (m, &x) in largest[..pitch].iter_mut().zip(row) {
                *m = if x > *m { x } else { *m };
            }
        }
        // Where no key is seen so far, any finite number serves: all weights are 0.
        let base: [T; QUERIES] = largest.map(|m| if m == -T::INFINITY { T::ZERO } else { m });
        let mut factor = [T::ZERO; QUERIES];
        for i in 0..QUERIES {
            factor[i] = (self.largest[i] - base[i]).exp::<false>();
        }
        if let Some(sums) = sums {
            for row in sums.chunks_exact_mut(pitch) {
                for (x, &f) in row.iter_mut().zip(&factor[..pitch]) {
                    *x = *x * f;
                }
            }
        }
        for (sum, &f) in self.sum.iter_mut().zip(&factor) {
            *sum = *sum * f;
        }
        let (sum, base) = (&mut self.sum[..pitch], &base[..pitch]);
        for row in scores.chunks_exact_mut(pitch) {
            for ((x, &b), sum) in row.iter_mut().zip(base).zip(sum.iter_mut()) {
                *x = exp::<L>(*x - b);
                *sum = *sum + *x;
            }
        }
        self.largest = largest;
    }

    /// Divides by the sums, 0 where there is none, and gives the logarithms.
    #[inline(always)]
    fn finish<L: Lanes<Real = T>>(&self, out: &mut [T], pitch: usize) -> [T; QUERIES] {
        let one = T::of(1.0);
        let inverse = self.sum.map(|sum| if sum == T::ZERO { T::ZERO } else { one / sum });
        for row in out.chunks_exact_mut(pitch) {
            for (x, &f) in row.iter_mut().zip(&inverse[..pitch]) {
                *x = *x * f;
            }
        }
        std::array::from_fn(|i| self.largest[i] + self.sum[i].log::<false>())
    }
}
