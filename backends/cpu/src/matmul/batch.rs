//! Batches of products, and the method for each, which is chosen by shape alone, so that the bits of a result do not
//! depend on the number of threads.
#![allow(unsafe_code, reason = "hands verified memory to the methods")]

use super::vector;
use crate::backend::threads;
use crate::gemm::{Epilogue, Extents, Matrix, Output, Product, Stored, Strided, in_parts};
use crate::memory::Pool;
use cotangent_hal::Result;
use cotangent_hal::native::Level;
use rayon::prelude::*;
use std::sync::Arc;

/// Multiplications from which a product is worth several threads.
const PARALLEL: usize = 1 << 19;
/// Terms of a sum, at least, and elements, at most, of the products that are cut along the sum.
const LONG: usize = 2048;
const FEW: usize = 1 << 15;

/// A batch of products: matrices, and the distance of neighbours in the batch.
pub(super) struct Batch<S: Stored> {
    pub(super) count: usize,
    pub(super) extents: Extents,
    pub(super) a: (Matrix<S>, isize),
    pub(super) b: (Matrix<S>, isize),
    pub(super) c: (Matrix<S>, isize),
    pub(super) epilogue: Epilogue<S::Computed>,
}

impl<S: Stored> Batch<S> {
    /// The batch as one product, where its left factors and its products lie row under row and the right factor is
    /// one for all.
    pub(super) fn merged(self) -> Self {
        let Extents { m, n, k } = self.extents;
        let follows = |(matrix, step): (Matrix<S>, isize)| step == matrix.rows.wrapping_mul(m as isize);
        if self.count > 1 && self.b.1 == 0 && m > 1 && follows(self.a) && follows(self.c) {
            return Batch { count: 1, extents: Extents { m: m * self.count, n, k }, ..self };
        }
        if self.count > 1 && self.b.1 == 0 && m == 1 {
            let stack = |(matrix, step): (Matrix<S>, isize)| (Matrix { rows: step, ..matrix }, 0);
            let (a, c) = (stack(self.a), stack(self.c));
            return Batch { count: 1, extents: Extents { m: self.count, n, k }, a, c, ..self };
        }
        self
    }

    /// # Safety
    /// The elements of the factors and the bias may be read, those of the products are distinct, overlap neither, and
    /// are the caller's alone.
    pub(super) unsafe fn run(&self, pool: &Arc<Pool>, level: Level) -> Result<()> {
        let Extents { m, n, k } = self.extents;
        let work = m.saturating_mul(n).saturating_mul(k);
        let threads = if work.saturating_mul(self.count) < PARALLEL { 1 } else { threads() };
        let one = |i: usize, parallel: bool| {
            let at = |(matrix, step): (Matrix<S>, isize)| {
                let ptr = matrix.ptr.wrapping_offset(i as isize * step);
                Matrix { ptr, ..matrix }
            };
            let (c, epilogue) = (at(self.c), self.epilogue);
            let matrix = Matrix { ptr: c.ptr.cast(), rows: c.rows, columns: c.columns };
            let out = Output { dtype: S::DTYPE, matrix, epilogue };
            // SAFETY: the caller's promise; each product of the batch has elements of its own.
            unsafe { product(pool, level, self.extents, at(self.a), at(self.b), out, parallel) }
        };
        if threads > 1 && self.count > 1 && (self.count >= 4 * threads || work < 2 * PARALLEL) {
            let tasks = self.count.min(4 * threads);
            return (0..tasks).into_par_iter().try_for_each(|t| {
                (t * self.count / tasks..(t + 1) * self.count / tasks).try_for_each(|i| one(i, false))
            });
        }
        (0..self.count).try_for_each(|i| one(i, threads > 1))
    }
}

/// `out = a b`, by the method that fits the extents.
///
/// # Safety
/// As for [`Batch::run`].
unsafe fn product<S: Stored>(
    pool: &Arc<Pool>,
    level: Level,
    extents: Extents,
    a: Matrix<S>,
    b: Matrix<S>,
    out: Output<S::Computed>,
    parallel: bool,
) -> Result<()> {
    // SAFETY: the caller's promise, for the same elements under other names.
    unsafe {
        if is_long(extents) && !vector::shares(extents, b) {
            return in_parts(pool, level, extents, out, parallel, |terms, out| {
                let extents = Extents { k: terms.len(), ..extents };
                whole(pool, level, extents, a.from(0, terms.start), b.from(terms.start, 0), out, false)
            });
        }
        whole(pool, level, extents, a, b, out, parallel)
    }
}

/// Whether a product has so long sums of so few elements that it is cut along the sum.
fn is_long(Extents { m, n, k }: Extents) -> bool {
    let elements = m.saturating_mul(n);
    k >= LONG && elements <= FEW && elements.saturating_mul(k) >= PARALLEL
}

/// `out = a b`, each sum in one piece.
///
/// # Safety
/// As for [`Batch::run`].
unsafe fn whole<S: Stored>(
    pool: &Arc<Pool>,
    level: Level,
    extents: Extents,
    a: Matrix<S>,
    b: Matrix<S>,
    out: Output<S::Computed>,
    parallel: bool,
) -> Result<()> {
    let Extents { m, n, k } = extents;
    // SAFETY: the caller's promise, for the same elements under other names.
    unsafe {
        if vector::fits(extents, b) {
            return vector::product(pool, level, extents, a, b, out, parallel);
        }
        let turned = Extents { m: n, n: m, k };
        if vector::fits(turned, a.transposed()) {
            return vector::product(pool, level, turned, b.transposed(), a.transposed(), out.transposed(), parallel);
        }
        if let Some(done) = S::product(pool, level, extents, [a, b], out, parallel) {
            return done;
        }
        let (a, b) = (Strided { level, matrix: a }, Strided { level, matrix: b.transposed() });
        Product { extents, a: &a, b: &b, out }.run(pool, level, parallel)
    }
}
