//! Products of long sums for few elements, split along the sum: there is too little else to share out.
#![allow(unsafe_code, reason = "hands verified memory to the methods")]

use super::batch::{self, PARALLEL};
use crate::gemm::{Element, Epilogue, Extents, Matrix, Output, Stored};
use crate::memory::Pool;
use cotangent_hal::Result;
use cotangent_hal::native::Level;
use rayon::prelude::*;
use std::slice;
use std::sync::Arc;

/// Terms of a sum, at least, and elements, at most, of the products that are split.
const LONG: usize = 2048;
const FEW: usize = 1 << 15;
/// Terms of a part, at least, and the most parts.
const PART: usize = 512;
const PARTS: usize = 16;

/// Whether a product is split.
pub(super) fn fits(Extents { m, n, k }: Extents) -> bool {
    let elements = m.saturating_mul(n);
    k >= LONG && elements <= FEW && elements.saturating_mul(k) >= PARALLEL
}

/// `out = a b` as a sum of products over parts of the inner axis, added in order.
///
/// # Safety
/// The elements of `a` and `b` may be read, those of `out` are distinct, overlap neither, and are the caller's alone.
pub(super) unsafe fn product<S: Stored>(
    pool: &Arc<Pool>,
    level: Level,
    Extents { m, n, k }: Extents,
    a: Matrix<S>,
    b: Matrix<S>,
    out: Output<S::Computed>,
    parallel: bool,
) -> Result<()> {
    let parts = (k / PART).min(PARTS);
    let memory = pool.take(parts * m * n * size_of::<S::Computed>())?;
    let sums = Matrix { ptr: memory.ptr().cast::<S::Computed>(), rows: n as isize, columns: 1 };
    let part = |i: usize| {
        let (from, to) = (i * k / parts, (i + 1) * k / parts);
        let matrix = Matrix { ptr: sums.from(i * m, 0).ptr.cast(), rows: sums.rows, columns: 1 };
        let out = Output { dtype: <S::Computed as Element>::DTYPE, matrix, epilogue: Epilogue::NONE };
        let extents = Extents { m, n, k: to - from };
        // SAFETY: a part of the factors, whose product has its own `m n` elements of `memory`.
        unsafe { batch::whole(pool, level, extents, a.from(0, from), b.from(from, 0), out, false) }
    };
    if parallel {
        (0..parts).into_par_iter().try_for_each(part)?;
    } else {
        (0..parts).try_for_each(part)?;
    }
    // SAFETY: all `parts * m * n` sums are written and nobody else has them; then the caller's promise for `out`.
    unsafe {
        let (total, rest) = slice::from_raw_parts_mut(sums.ptr, parts * m * n).split_at_mut(m * n);
        for part in rest.chunks_exact(m * n) {
            total.iter_mut().zip(part).for_each(|(t, &p)| *t = *t + p);
        }
        out.finish(level, sums, [m, n]);
    }
    Ok(())
}
