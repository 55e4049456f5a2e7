//! General products.
#![allow(unsafe_code, reason = "hands verified memory to the core")]

use super::{Extents, Matrix};
use crate::gemm::{Element, Output, Product, Stored, Strided};
use crate::memory::Pool;
use cotangent_hal::Result;
use cotangent_hal::native::Level;
use std::sync::Arc;

/// `c = a b`.
///
/// # Safety
/// The elements of `a` and `b` may be read, those of `c` are distinct, overlap neither, and are the caller's alone.
pub(super) unsafe fn product<T: Element + Stored<T>>(
    pool: &Arc<Pool>,
    level: Level,
    extents: Extents,
    a: Matrix<T>,
    b: Matrix<T>,
    c: Matrix<T>,
    parallel: bool,
) -> Result<()> {
    let a = Strided { level, matrix: a };
    let b = Strided { level, matrix: b.transposed() };
    let out = Output { dtype: T::DTYPE, matrix: Matrix { ptr: c.ptr.cast(), rows: c.rows, columns: c.columns } };
    // SAFETY: the caller's promise.
    unsafe { Product { extents, a: &a, b: &b, out }.run(pool, level, parallel) }
}
