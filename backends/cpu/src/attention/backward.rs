//! The backward pass: weights are computed again from the logarithms that the forward pass kept, a tile at a time.
#![allow(unsafe_code, reason = "calls the products of tiles")]

use super::Problem;
use super::forward::Results;
use super::product::{Extents, Lanes, product};
use super::real::{Real, exp};
use super::scores::{KEYS, Masks, QUERIES, Window, scores};
use super::tile::{Stack, Tile};
use crate::gemm::Matrix;
use crate::memory::Pool;
use cotangent_hal::Result;
use cotangent_hal::native::Float;
use std::ops::Range;
use std::sync::Arc;

/// What the forward pass gave, the gradient of its results, and where the others go that are wanted.
#[derive(Clone, Copy)]
pub(super) struct Gradients {
    pub results: Results,
    pub d_out: Stack,
    pub d_q: Option<Stack>,
    pub d_k: Option<Stack>,
    pub d_v: Option<Stack>,
    pub d_mask: Option<Stack>,
}

/// A part of the work: queries of some of the heads that share keys, and keys. What is wanted of queries and of the mask
/// needs all keys in one part, what is wanted of keys all queries.
#[derive(Clone)]
pub(super) struct Share {
    pub batch: usize,
    /// The head of the keys.
    pub group: usize,
    pub heads: Range<usize>,
    pub queries: Range<usize>,
    pub keys: Range<usize>,
}

/// Rows of a product that are computed together where the diagonal cuts through, a multiple of what registers hold.
const STEP: usize = 12;

/// Scratch of one thread.
struct Scratch<T> {
    /// Queries, results and their gradients, queries across; the first scaled.
    queries: Tile<T>,
    out: Tile<T>,
    d_out: Tile<T>,
    /// Where rows cannot be read as they lie.
    query_rows: Tile<T>,
    d_out_rows: Tile<T>,
    keys: Tile<T>,
    values: Tile<T>,
    weights: Tile<T>,
    d_scores: Tile<T>,
    masks: Masks<T>,
    lse: Tile<T>,
    d_q: Tile<T>,
    /// All keys of the share.
    d_k: Tile<T>,
    d_v: Tile<T>,
}

/// Computes a share of the gradients.
///
/// # Safety
/// The processor has the instructions of `L`. The elements of the operands may be read, those of the gradients are
/// distinct and the caller's alone.
#[inline(always)]
pub(super) unsafe fn share<L: Lanes>(
    pool: &Arc<Pool>,
    problem: &Problem,
    gradients: &Gradients,
    share: Share,
) -> Result<()> {
    let Problem { depth, width, .. } = *problem;
    let tile = |rows: usize, pitch: usize| Tile::<L::Real>::new(pool, rows, pitch);
    let per_key = |wanted: Option<Stack>, pitch: usize| tile(wanted.map_or(0, |_| share.keys.len()), pitch);
    let mut scratch = Scratch {
        queries: tile(depth, QUERIES)?,
        out: tile(width, QUERIES)?,
        d_out: tile(width, QUERIES)?,
        query_rows: tile(QUERIES, depth)?,
        d_out_rows: tile(QUERIES, width)?,
        keys: tile(KEYS, depth)?,
        values: tile(KEYS, width)?,
        weights: tile(KEYS, QUERIES)?,
        d_scores: tile(KEYS, QUERIES)?,
        masks: Masks::new(pool, problem)?,
        lse: tile(1, QUERIES)?,
        d_q: tile(QUERIES, depth)?,
        d_k: per_key(gradients.d_k, depth)?,
        d_v: per_key(gradients.d_v, width)?,
    };
    let rows = share.keys.len();
    for (wanted, tile) in [(gradients.d_k, &mut scratch.d_k), (gradients.d_v, &mut scratch.d_v)] {
        if wanted.is_some() {
            tile.rows(rows).fill(L::Real::ZERO);
        }
    }
    for head in share.heads.clone() {
        for i in share.queries.clone().step_by(QUERIES) {
            let count = QUERIES.min(share.queries.end - i);
            // SAFETY: the caller's promise.
            unsafe { block::<L>(problem, gradients, [share.batch, head], i, count, &share.keys, &mut scratch) };
        }
    }
    let shared = [share.batch, share.group];
    let scale = L::Real::of(problem.scale);
    if let Some(d_k) = gradients.d_k {
        scratch.d_k.rows(rows).iter_mut().for_each(|x| *x = *x * scale);
        // SAFETY: the caller's promise; the share has these keys for itself.
        unsafe { scratch.d_k.scatter(d_k.part(shared, share.keys.start, [rows, depth])) };
    }
    if let Some(d_v) = gradients.d_v {
        // SAFETY: as above.
        unsafe { scratch.d_v.scatter(d_v.part(shared, share.keys.start, [rows, width])) };
    }
    Ok(())
}

/// What a block of queries adds.
///
/// # Safety
/// As for [`share`].
#[inline(always)]
unsafe fn block<L: Lanes>(
    problem: &Problem,
    gradients: &Gradients,
    head: [usize; 2],
    i: usize,
    count: usize,
    keys: &Range<usize>,
    scratch: &mut Scratch<L::Real>,
) {
    let Problem { depth, width, .. } = *problem;
    let Gradients { results, d_out, d_q, d_k, d_v, d_mask } = *gradients;
    let seen = if problem.causal { keys.end.min(i + count).max(keys.start) } else { keys.end };
    if seen == keys.start && d_q.is_none() && d_mask.is_none() {
        return;
    }
    let pitch = count.next_multiple_of(L::panel());
    let s = scratch;
    for tile in [&mut s.queries, &mut s.out, &mut s.d_out, &mut s.weights, &mut s.d_scores, &mut s.lse] {
        tile.set_pitch(pitch);
    }
    let scale = L::Real::of(problem.scale);
    // SAFETY: the caller's promise.
    let (queries, across, query_rows, d_out_rows) = unsafe {
        let queries = s.queries.gather(problem.q.part(head, i, [count, depth]).transposed());
        s.out.gather(results.out.part(head, i, [count, width]).transposed());
        let across = s.d_out.gather(d_out.part(head, i, [count, width]).transposed());
        s.lse.gather(results.lse.part(head, i, [count, 1]).transposed());
        let query_rows = problem.q.part(head, i, [count, depth]).right(&mut s.query_rows);
        let d_out_rows = d_out.part(head, i, [count, width]).right(&mut s.d_out_rows);
        (queries, across, query_rows, d_out_rows)
    };
    s.queries.rows(depth).iter_mut().for_each(|x| *x = *x * scale);
    // A query without keys, and a column without a query, has no weights.
    let mut lse = [L::Real::INFINITY; QUERIES];
    for (to, &from) in lse.iter_mut().zip(&s.lse.rows(1)[..count]) {
        *to = if from == -L::Real::INFINITY { L::Real::INFINITY } else { from };
    }
    // What the normalisation takes off: the product of each result and its gradient.
    let mut inner = [L::Real::ZERO; QUERIES];
    for (out, d_out) in s.out.rows(width).chunks_exact(pitch).zip(s.d_out.rows(width).chunks_exact(pitch)) {
        for ((sum, &y), &d) in inner.iter_mut().zip(out).zip(d_out) {
            *sum = *sum + y * d;
        }
    }
    let (lse, inner) = (&lse[..pitch], &inner[..pitch]);
    s.d_q.rows(count).fill(L::Real::ZERO);
    for j in keys.clone().step_by(KEYS) {
        let window = Window { head, i, queries: count, j, keys: KEYS.min(keys.end - j) };
        if j >= seen {
            if let Some(d_mask) = d_mask {
                s.d_scores.rows(window.keys).fill(L::Real::ZERO);
                // SAFETY: the caller's promise; the share has this part for itself.
                unsafe { s.d_scores.scatter(d_mask.window(head, [i, j], [count, window.keys]).transposed()) };
            }
            continue;
        }
        let shared = problem.shared(head);
        let key_part = problem.k.part(shared, j, [window.keys, depth]);
        // SAFETY: the caller's promise; scratch has the extents of the problem.
        unsafe {
            let key_rows = if d_q.is_some() { key_part.right(&mut s.keys) } else { key_part.left(&mut s.keys) };
            scores::<L>(problem, window, key_rows, queries, &mut s.weights, &mut s.masks);
            for row in s.weights.rows(window.keys).chunks_exact_mut(pitch) {
                for (x, &lse) in row.iter_mut().zip(lse) {
                    *x = exp::<L>(*x - lse);
                }
            }
            let down = by_keys(problem, &window);
            if d_v.is_some() {
                let sums = s.d_v.matrix().from(j - keys.start, 0);
                add::<L>(&down, s.weights.matrix(), d_out_rows, sums, width);
            }
            if d_q.is_none() && d_k.is_none() && d_mask.is_none() {
                continue;
            }
            let values = problem.v.part(shared, j, [window.keys, width]).left(&mut s.values);
            for strip in window.strips(problem, pitch, L::panel()) {
                let extents = Extents { m: strip.keys, n: strip.columns, k: width };
                let (across, to) = (across.from(0, strip.column), s.d_scores.matrix().from(0, strip.column));
                product::<L>(extents, values, across, to, false);
            }
            let tiles = s.d_scores.rows(window.keys).chunks_exact_mut(pitch);
            for (at, (row, weights)) in tiles.zip(s.weights.rows(window.keys).chunks_exact(pitch)).enumerate() {
                for ((x, &p), &inner) in row.iter_mut().zip(weights).zip(inner) {
                    *x = p * (*x - inner);
                }
                let hidden = if window.cut(problem) { (j + at).saturating_sub(i).min(pitch) } else { 0 };
                // No product was formed there.
                row[..hidden].fill(L::Real::ZERO);
            }
            if d_k.is_some() {
                let sums = s.d_k.matrix().from(j - keys.start, 0);
                add::<L>(&down, s.d_scores.matrix(), query_rows, sums, depth);
            }
            if d_q.is_some() {
                add::<L>(
                    &by_queries(problem, &window),
                    s.d_scores.matrix().transposed(),
                    key_rows,
                    s.d_q.matrix(),
                    depth,
                );
            }
            if let Some(d_mask) = d_mask {
                s.d_scores.scatter(d_mask.window(head, [i, j], [count, window.keys]).transposed());
            }
        }
    }
    if let Some(d_q) = d_q {
        s.d_q.rows(count).iter_mut().for_each(|x| *x = *x * scale);
        // SAFETY: the caller's promise; the share has these queries for itself.
        unsafe { s.d_q.scatter(d_q.part(head, i, [count, depth])) };
    }
}

/// Rows of a product, and the range of its sums in which the left factor is not all zeros.
struct Run {
    rows: Range<usize>,
    terms: Range<usize>,
}

/// The keys of a window, each with the queries that see it.
fn by_keys(problem: &Problem, window: &Window) -> impl Fn(usize) -> Option<Run> + use<> {
    let (Window { i, j, queries, keys, .. }, cut) = (*window, window.cut(problem));
    let step = if cut { STEP } else { keys };
    move |number| {
        let start = number * step;
        let first = if cut { (j + start).saturating_sub(i).min(queries) } else { 0 };
        (start < keys).then(|| Run { rows: start..keys.min(start + step), terms: first..queries })
    }
}

/// The queries of a window, each with the keys that it sees.
fn by_queries(problem: &Problem, window: &Window) -> impl Fn(usize) -> Option<Run> + use<> {
    let (Window { i, j, queries, keys, .. }, cut) = (*window, window.cut(problem));
    let step = if cut { STEP } else { queries };
    move |number| {
        let start = number * step;
        let rows = start..queries.min(start + step);
        let seen = if cut { (i + rows.end).saturating_sub(j).min(keys) } else { keys };
        (start < queries).then_some(Run { rows, terms: 0..seen })
    }
}

/// Adds a product of `n` columns run by run.
///
/// # Safety
/// As for [`product`].
#[inline(always)]
unsafe fn add<L: Lanes>(
    runs: &impl Fn(usize) -> Option<Run>,
    a: Matrix<L::Real>,
    b: Matrix<L::Real>,
    c: Matrix<L::Real>,
    n: usize,
) {
    for Run { rows, terms } in (0..).map_while(runs) {
        let extents = Extents { m: rows.len(), n, k: terms.len() };
        let (a, b) = (a.from(rows.start, terms.start), b.from(terms.start, 0));
        // SAFETY: the caller's promise.
        unsafe { product::<L>(extents, a, b, c.from(rows.start, 0), true) };
    }
}
