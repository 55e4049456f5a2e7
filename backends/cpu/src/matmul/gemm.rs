//! General products, through `gemm-f32`.
#![allow(unsafe_code, reason = "`gemm-f32` takes raw pointers")]

use super::{Extents, Matrix};

/// The most rows of a factor for which it is better to leave the other factor as it lies, contiguous along the sum,
/// than to have the result column-major: `gemm-f32` would rearrange that other, larger factor first.
#[cfg(not(miri))]
const FEW: usize = 32;

/// `c = a b`.
///
/// `gemm-f32` is fastest where its result is column-major, so a row-major product is computed as `c^T = b^T a^T`.
///
/// # Safety
/// The elements of `a` and `b` may be read, those of `c` are distinct, overlap neither, and are the caller's alone.
#[cfg(not(miri))]
pub(super) unsafe fn product(Extents { m, n, k }: Extents, a: Matrix, b: Matrix, c: Matrix, parallel: bool) {
    use gemm_common::Parallelism;
    let transposed = if c.columns.unsigned_abs() <= c.rows.unsigned_abs() {
        !(m <= FEW && b.rows == 1)
    } else {
        n <= FEW && a.columns == 1
    };
    let (m, n, a, b, c) =
        if transposed { (n, m, b.transposed(), a.transposed(), c.transposed()) } else { (m, n, a, b, c) };
    let parallelism = if parallel { Parallelism::Rayon(0) } else { Parallelism::None };
    let gemm = gemm_f32::gemm::f32::get_gemm_fn();
    // SAFETY: the caller's promise; the old contents of `c` are not read.
    unsafe {
        gemm(
            m,
            n,
            k,
            c.ptr,
            c.columns,
            c.rows,
            false,
            a.ptr,
            a.columns,
            a.rows,
            b.ptr,
            b.columns,
            b.rows,
            0.0,
            1.0,
            false,
            false,
            false,
            parallelism,
        );
    }
}

/// `c = a b` by its definition, where the processor's own instructions cannot be interpreted.
///
/// # Safety
/// As above.
#[cfg(miri)]
pub(super) unsafe fn product(Extents { m, n, k }: Extents, a: Matrix, b: Matrix, c: Matrix, _parallel: bool) {
    for i in 0..m {
        for j in 0..n {
            // SAFETY: the caller's promise.
            let sum = (0..k).map(|l| unsafe { a.from(i, l).ptr.read() * b.from(l, j).ptr.read() }).sum();
            // SAFETY: as above.
            unsafe { c.from(i, j).ptr.write(sum) };
        }
    }
}
