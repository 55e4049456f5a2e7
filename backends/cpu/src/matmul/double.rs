//! Products of `f64` panels. They serve what checks other results: a plain loop that vectorises, without a library.
#![allow(unsafe_code, reason = "makes slices of verified raw memory and calls a variant that the processor has")]

use super::vector::SUM_BODIES_64;
use super::{Extents, Matrix};
use cotangent_hal::native::Level;
use std::slice;

/// Rows of the right factor that stay in cache while the rows of the left one go by.
const DEPTH: usize = 64;

/// `c = a b`, all with contiguous rows.
///
/// # Safety
/// The elements of `a` and `b` may be read, those of `c` are distinct, overlap neither, and are the caller's alone.
pub(super) unsafe fn product(
    level: Level,
    Extents { m, n, k }: Extents,
    a: Matrix<f64>,
    b: Matrix<f64>,
    c: Matrix<f64>,
) {
    let body = SUM_BODIES_64[level as usize];
    for l in (0..k).step_by(DEPTH) {
        for i in 0..m {
            // SAFETY: a row of `c`, and a part of a row of `a`; the processor has the level.
            unsafe {
                let y = slice::from_raw_parts_mut(c.from(i, 0).ptr, n);
                let x = slice::from_raw_parts(a.from(i, l).ptr, DEPTH.min(k - l));
                if l == 0 {
                    y.fill(0.0);
                }
                body(x, b.from(l, 0), y);
            }
        }
    }
}
