//! A tile of scores: keys down, queries across, so that what belongs to a query is a lane of vectors.
#![allow(unsafe_code, reason = "calls the products of tiles")]

use super::Problem;
use super::product::{Extents, Lanes, product};
use super::real::Real;
use super::tile::{Tile, Truths};
use crate::gemm::Matrix;
use crate::memory::Pool;
use cotangent_hal::{DType, Result};
use std::sync::Arc;

/// Queries of a tile, a multiple of every panel.
pub(super) const QUERIES: usize = 64;
/// Keys of a tile.
pub(super) const KEYS: usize = 64;

/// A part of the scores of one head.
#[derive(Clone, Copy)]
pub(super) struct Window {
    /// The batch and the head.
    pub head: [usize; 2],
    /// The first query, and how many there are.
    pub i: usize,
    pub queries: usize,
    /// The first key, and how many there are.
    pub j: usize,
    pub keys: usize,
}

/// A range of columns of a tile and the number of keys that the last query of these sees.
#[derive(Clone, Copy)]
pub(super) struct Strip {
    pub column: usize,
    pub columns: usize,
    pub keys: usize,
}

impl Window {
    /// Whether some of the queries see only some of the keys.
    pub(super) fn cut(&self, problem: &Problem) -> bool {
        problem.causal && self.j + self.keys > self.i + 1
    }

    /// The columns with the keys that they need: whole, or in panels where the diagonal cuts through.
    pub(super) fn strips(self, problem: &Problem, pitch: usize, panel: usize) -> impl Iterator<Item = Strip> {
        let columns = if self.cut(problem) { panel } else { pitch };
        (0..pitch).step_by(columns).map(move |column| {
            let seen = (self.i + column + columns).saturating_sub(self.j);
            let keys = if columns == pitch { self.keys } else { self.keys.min(seen) };
            Strip { column, columns, keys }
        })
    }
}

/// Scratch for masks.
pub(super) struct Masks<T> {
    floats: Option<Tile<T>>,
    truths: Option<Truths>,
}

impl<T: Real> Masks<T> {
    pub(super) fn new(pool: &Arc<Pool>, problem: &Problem) -> Result<Self> {
        let truths = problem.mask.filter(|mask| mask.dtype == DType::Bool);
        let floats = problem.mask.filter(|mask| mask.dtype != DType::Bool);
        Ok(Masks {
            floats: floats.map(|_| Tile::new(pool, KEYS, QUERIES)).transpose()?,
            truths: truths.map(|_| Truths::new(pool, KEYS * QUERIES)).transpose()?,
        })
    }
}

/// The scores of a window, masked: `keys` times the queries of `queries`, which are scaled and have the pitch of `scores`.
///
/// # Safety
/// The processor has the instructions, and the elements of all operands may be read.
#[inline(always)]
pub(super) unsafe fn scores<L: Lanes>(
    problem: &Problem,
    window: Window,
    keys: Matrix<L::Real>,
    queries: Matrix<L::Real>,
    scores: &mut Tile<L::Real>,
    masks: &mut Masks<L::Real>,
) {
    let pitch = scores.pitch();
    for strip in window.strips(problem, pitch, L::panel()) {
        let extents = Extents { m: strip.keys, n: strip.columns, k: problem.depth };
        // SAFETY: the caller's promise; the tile has room for the keys and whole panels of queries.
        unsafe {
            product::<L>(extents, keys, queries.from(0, strip.column), scores.matrix().from(0, strip.column), false)
        };
    }
    let tile = scores.rows(window.keys);
    if let Some(mask) = problem.mask {
        let part = mask.window(window.head, [window.i, window.j], [window.queries, window.keys]).transposed();
        if let Some(truths) = &mut masks.truths {
            // SAFETY: the caller's promise.
            let truths = unsafe { truths.gather(part, pitch) };
            for (score, &seen) in tile.iter_mut().zip(truths) {
                *score = if seen == 0 { -L::Real::INFINITY } else { *score };
            }
        }
        if let Some(floats) = &mut masks.floats {
            floats.set_pitch(pitch);
            // SAFETY: the caller's promise.
            unsafe { floats.gather(part) };
            for (score, &more) in tile.iter_mut().zip(&*floats.rows(window.keys)) {
                *score = *score + more;
            }
        }
    }
    if window.cut(problem) {
        for (j, row) in tile.chunks_exact_mut(pitch).enumerate() {
            // The queries before this key.
            let hidden = (window.j + j).saturating_sub(window.i).min(pitch);
            row[..hidden].fill(-L::Real::INFINITY);
        }
    }
}

/// Masks the scores of one query from a key on.
///
/// # Safety
/// The elements of the mask may be read.
#[inline(always)]
pub(super) unsafe fn mask_row<T: Real>(
    problem: &Problem,
    head: [usize; 2],
    at: [usize; 2],
    scores: &mut [T],
    masks: &mut Masks<T>,
) {
    let Some(mask) = problem.mask else { return };
    let part = mask.window(head, at, [1, scores.len()]);
    if let Some(truths) = &mut masks.truths {
        // SAFETY: the caller's promise.
        let truths = unsafe { truths.gather(part, scores.len()) };
        for (score, &seen) in scores.iter_mut().zip(truths) {
            *score = if seen == 0 { -T::INFINITY } else { *score };
        }
    }
    if let Some(floats) = &mut masks.floats {
        floats.set_pitch(scores.len());
        // SAFETY: the caller's promise.
        unsafe { floats.gather(part) };
        for (score, &more) in scores.iter_mut().zip(&*floats.rows(1)) {
            *score = *score + more;
        }
    }
}
