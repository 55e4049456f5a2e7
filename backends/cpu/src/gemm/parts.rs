//! Products of long sums for few elements, cut along the sum.
#![allow(unsafe_code, reason = "makes slices of memory of its own")]

use super::{Element, Epilogue, Extents, Matrix, Output};
use crate::memory::Pool;
use cotangent_hal::Result;
use cotangent_hal::native::Level;
use rayon::prelude::*;
use std::ops::Range;
use std::slice;
use std::sync::Arc;

/// Terms of a part, at least, and the most parts.
const PART: usize = 512;
const PARTS: usize = 16;

/// A product as the sum of products over ranges of terms, each computed by `part` to a place of its own, added in order.
///
/// # Errors
/// Those of a part, and where there is no memory for the sums.
///
/// # Safety
/// Each part writes its place, whose elements are distinct; the elements of `out` are the caller's alone; the processor has
/// the level.
pub(crate) unsafe fn in_parts<T: Element>(
    pool: &Arc<Pool>,
    level: Level,
    Extents { m, n, k }: Extents,
    out: Output<T>,
    parallel: bool,
    part: impl Fn(Range<usize>, Output<T>) -> Result<()> + Send + Sync,
) -> Result<()> {
    let parts = (k / PART).clamp(1, PARTS);
    let memory = pool.take(parts * m * n * size_of::<T>())?;
    let sums = Matrix { ptr: memory.ptr().cast::<T>(), rows: n as isize, columns: 1 };
    let one = |i: usize| {
        let matrix = Matrix { ptr: sums.from(i * m, 0).ptr.cast(), rows: sums.rows, columns: 1 };
        part(i * k / parts..(i + 1) * k / parts, Output { dtype: T::DTYPE, matrix, epilogue: Epilogue::NONE })
    };
    if parallel {
        (0..parts).into_par_iter().try_for_each(one)?;
    } else {
        (0..parts).try_for_each(one)?;
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
