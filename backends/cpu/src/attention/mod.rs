//! Attention without its scores in memory: verification, and how the work is shared out.
//!
//! Scores exist a tile at a time, keys down and queries across. All that belongs to a query, its largest score and its
//! sum, is then a lane of vectors, and products read keys and values as they lie. What is summed is summed in an order
//! that depends on the shapes alone, so that the bits of a result do not depend on the number of threads.
#![allow(unsafe_code, reason = "hands verified memory to the methods")]

mod backward;
mod few;
mod forward;
mod product;
mod real;
mod scores;
mod tile;
mod verify;

use crate::backend::threads;
use crate::memory::Pool;
use backward::{Gradients, Share};
use cotangent_hal::native::Level;
use cotangent_hal::{Attention, AttentionGradients, DType, Result, View};
use product::At;
use rayon::prelude::*;
use real::Real;
use scores::QUERIES;
use std::ops::Range;
use std::sync::Arc;
use tile::Stack;

/// Products of a query and a key from which attention is worth several threads, times their depth.
const PARALLEL: usize = 1 << 17;
/// Tasks a thread, where there are so many.
const TASKS: usize = 8;

/// A verified call: extents and operands.
struct Problem {
    batch: usize,
    /// Heads of the queries, those of the keys, and how many of the former share one of the latter.
    heads: usize,
    groups: usize,
    sharing: usize,
    queries: usize,
    keys: usize,
    /// Elements of a query, and of a value.
    depth: usize,
    width: usize,
    q: Stack,
    k: Stack,
    v: Stack,
    mask: Option<Stack>,
    causal: bool,
    scale: f64,
}

impl Problem {
    /// The batch and the head of the keys and values for a head of the queries.
    fn shared(&self, [batch, head]: [usize; 2]) -> [usize; 2] {
        [batch, head / self.sharing]
    }

    /// Whether several threads are worth it.
    fn threads(&self) -> usize {
        let depth = self.depth + self.width;
        let work = self.batch.saturating_mul(self.heads).saturating_mul(self.queries).saturating_mul(self.keys);
        if work.saturating_mul(depth) < PARALLEL { 1 } else { threads() }
    }
}

/// `$module::$run` as it is compiled for a level and what `$dtype` is computed in.
macro_rules! at_level {
    ($level:expr, $dtype:expr, $module:ident::$run:ident, ($($arg:ident: $t:ty),*)) => {{
        /// # Safety
        /// As for the function that is called.
        unsafe fn base<T: Real>($($arg: $t),*) -> Result<()> {
            // SAFETY: the caller's promise.
            unsafe { $module::$run::<At<T, 0>>($($arg),*) }
        }
        /// # Safety
        /// As for the function that is called.
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma")]
        unsafe fn v3<T: Real>($($arg: $t),*) -> Result<()> {
            // SAFETY: the caller's promise.
            unsafe { $module::$run::<At<T, 1>>($($arg),*) }
        }
        /// # Safety
        /// As for the function that is called.
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
        unsafe fn v4<T: Real>($($arg: $t),*) -> Result<()> {
            // SAFETY: the caller's promise.
            unsafe { $module::$run::<At<T, 2>>($($arg),*) }
        }
        #[cfg(not(target_arch = "x86_64"))]
        use {base as v3, base as v4};
        let bodies: [unsafe fn($($t),*) -> Result<()>; 3] = match $dtype.compute() {
            DType::F64 => [base::<f64>, v3::<f64>, v4::<f64>],
            _ => [base::<f32>, v3::<f32>, v4::<f32>],
        };
        bodies[$level as usize]
    }};
}

/// See [`LibraryCall::Attention`](cotangent_hal::LibraryCall::Attention).
pub(crate) fn forward(
    pool: &Arc<Pool>,
    level: Level,
    of: &Attention<'_>,
    out: &View<'_>,
    lse: &View<'_>,
) -> Result<()> {
    let call = verify::forward(of, out, lse)?;
    let Some((problem, results)) = call.operands() else { return Ok(()) };
    let few = problem.queries <= few::MOST;
    let rows = problem.batch * problem.heads * problem.queries.div_ceil(if few { 1 } else { QUERIES });
    type Body = unsafe fn(&Arc<Pool>, &Problem, forward::Results, Range<usize>) -> Result<()>;
    let dtype = problem.q.dtype;
    let body: Body = if few {
        at_level!(level, dtype, few::rows, (p: &Arc<Pool>, q: &Problem, r: forward::Results, b: Range<usize>))
    } else {
        at_level!(level, dtype, forward::blocks, (p: &Arc<Pool>, q: &Problem, r: forward::Results, b: Range<usize>))
    };
    shared_out(rows, problem.threads(), |range| {
        // SAFETY: the operands are verified and borrowed, results are distinct, and blocks have rows of their own; the
        // processor has the level.
        unsafe { body(pool, problem, results, range) }
    })
}

/// See [`LibraryCall::AttentionBackward`](cotangent_hal::LibraryCall::AttentionBackward).
pub(crate) fn backward(
    pool: &Arc<Pool>,
    level: Level,
    of: &Attention<'_>,
    given: [&View<'_>; 3],
    wanted: &AttentionGradients<'_>,
) -> Result<()> {
    let call = verify::backward(of, given, wanted)?;
    let Some((problem, gradients)) = call.operands() else { return Ok(()) };
    type Body = unsafe fn(&Arc<Pool>, &Problem, &Gradients, Share) -> Result<()>;
    let dtype = problem.q.dtype;
    let body: Body = at_level!(level, dtype, backward::share, (p: &Arc<Pool>, q: &Problem, g: &Gradients, s: Share));
    // SAFETY: the operands are verified and borrowed, gradients are distinct, and shares write elements of their own; the
    // processor has the level.
    let run = |gradients: &Gradients, share: Share| unsafe { body(pool, problem, gradients, share) };
    let (groups, threads) = (problem.groups, problem.threads());
    let heads = |group: usize| group * problem.sharing..(group + 1) * problem.sharing;
    let whole = problem.batch * groups;
    if threads == 1 || whole >= 4 * threads || (whole >= threads && whole.is_multiple_of(threads)) {
        return shared_out(whole, threads, |mut range| {
            range.try_for_each(|number| {
                let (batch, group) = (number / groups, number % groups);
                let (queries, keys) = (0..problem.queries, 0..problem.keys);
                run(&gradients, Share { batch, group, heads: heads(group), queries, keys })
            })
        });
    }
    // Too few heads for the threads: keys and queries are shared out, and scores computed for each once more.
    if gradients.d_k.is_some() || gradients.d_v.is_some() {
        let gradients = Gradients { d_q: None, d_mask: None, ..gradients };
        let blocks = problem.keys.div_ceil(scores::KEYS);
        shared_out(whole * blocks, threads, |mut range| {
            range.try_for_each(|number| {
                let (part, j) = (number / blocks, number % blocks * scores::KEYS);
                let keys = j..problem.keys.min(j + scores::KEYS);
                let queries = 0..problem.queries;
                let (batch, group) = (part / groups, part % groups);
                run(&gradients, Share { batch, group, heads: heads(group), queries, keys })
            })
        })?;
    }
    if gradients.d_q.is_some() || gradients.d_mask.is_some() {
        let gradients = Gradients { d_k: None, d_v: None, ..gradients };
        let blocks = problem.queries.div_ceil(QUERIES);
        shared_out(problem.batch * problem.heads * blocks, threads, |mut range| {
            range.try_for_each(|number| {
                let (part, i) = (number / blocks, number % blocks * QUERIES);
                let (batch, head) = (part / problem.heads, part % problem.heads);
                let (queries, keys) = (i..problem.queries.min(i + QUERIES), 0..problem.keys);
                let group = head / problem.sharing;
                run(&gradients, Share { batch, group, heads: head..head + 1, queries, keys })
            })
        })?;
    }
    Ok(())
}

/// Runs about equal ranges of tasks at once.
fn shared_out(tasks: usize, threads: usize, run: impl Fn(Range<usize>) -> Result<()> + Sync) -> Result<()> {
    if threads == 1 {
        return run(0..tasks);
    }
    let ranges = tasks.min(TASKS * threads);
    (0..ranges).into_par_iter().try_for_each(|i| run(i * tasks / ranges..(i + 1) * tasks / ranges))
}
