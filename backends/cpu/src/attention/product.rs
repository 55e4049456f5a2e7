//! Products of tiles by the kernels of the core, on matrices as they lie: neither keys nor values are packed.
#![allow(unsafe_code, reason = "the core's kernels run on raw places")]

use super::real::Real;
use crate::gemm::{Matrix, Packed, Tile};
use cotangent_hal::native::Level;
use std::marker::PhantomData;

/// What loops are compiled for: a type to compute in, and an instruction set.
pub(super) trait Lanes {
    /// An element.
    type Real: Real;
    /// The instruction set.
    const LEVEL: Level;
    /// Whether it has a fused multiply-add.
    const FMA: bool;

    /// Columns of the product that a kernel computes at once: what tiles of queries are padded to.
    fn panel() -> usize {
        Self::Real::kernel(Self::LEVEL).columns
    }
}

/// `T` on the instruction set of that number.
pub(super) struct At<T, const LEVEL: usize>(PhantomData<T>);

impl<T: Real, const LEVEL: usize> Lanes for At<T, LEVEL> {
    type Real = T;
    const LEVEL: Level = [Level::Base, Level::V3, Level::V4][LEVEL];
    const FMA: bool = LEVEL > 0;
}

/// Extents of a product: `[m, k] [k, n] -> [m, n]`.
#[derive(Clone, Copy)]
pub(super) struct Extents {
    pub m: usize,
    pub n: usize,
    pub k: usize,
}

/// Contiguous rows of `width` elements.
pub(super) fn dense<T>(ptr: *mut T, width: usize) -> Matrix<T> {
    Matrix { ptr, rows: width as isize, columns: 1 }
}

/// `c = a b`, or `c += a b` where `add`.
///
/// # Safety
/// The processor has the instructions. The elements of `a` and `b` may be read, those of `c` are the caller's alone and
/// overlap neither; rows of `b` and `c` are contiguous.
pub(super) unsafe fn product<L: Lanes>(
    Extents { m, n, k }: Extents,
    a: Matrix<L::Real>,
    b: Matrix<L::Real>,
    c: Matrix<L::Real>,
    add: bool,
) {
    let kernel = L::Real::kernel(L::LEVEL);
    for j in (0..n).step_by(kernel.columns) {
        for i in (0..m).step_by(kernel.rows) {
            let tile = Tile {
                k,
                rows: kernel.rows.min(m - i),
                columns: kernel.columns.min(n - j),
                a: a.from(i, 0).ptr,
                a_row: a.rows,
                a_col: a.columns,
                b: b.from(0, j).ptr,
                b_row: b.rows,
                c: c.from(i, j).ptr,
                c_row: c.rows,
                accumulate: add,
            };
            // SAFETY: rows and columns of the factors and of the product.
            unsafe { kernel.tile(&tile) };
        }
    }
}
