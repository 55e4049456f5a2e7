//! The core of matrix products, which attention and convolution share: micro-kernels that keep a tile of the product in
//! registers, panels that factors are packed into, and the loops around them.
//!
//! * [`Kernel`](kernel::Kernel) computes one tile, on packed panels or on matrices as they lie.
//! * [`Factor`] fills panels: a matrix of any strides and dtype ([`Strided`]), or whatever else has rows and terms.
//! * [`Product`] cuts a product into blocks for the caches and tiles for the kernel, packs what is read often enough to
//!   pay for it, and shares the work out; [`Output`] says where results go, its [`Epilogue`] what is applied to them
//!   before.
//! * [`in_parts`] cuts long sums, where there is little else to share out.
//!
//! How a product is cut depends on its shape alone and each element is summed in one order, so that its bits do not
//! depend on the number of threads.

#[cfg(target_arch = "x86_64")]
mod amx;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod factor;
mod kernel;
mod output;
#[cfg(target_arch = "x86_64")]
mod pairs;
mod parts;
mod portable;
mod product;

pub(crate) use factor::{Factor, Panels, Stored, Strided};
pub(crate) use kernel::{Element, Packed, Tile};
pub(crate) use output::{Epilogue, Output};
pub(crate) use parts::in_parts;
pub(crate) use product::{Extents, Product};

/// A matrix in verified memory: element `(i, j)` lies at `ptr + i * rows + j * columns`.
///
/// It is a place, not a right: those who read or write through it say why they may.
#[derive(Clone, Copy)]
pub(crate) struct Matrix<T> {
    /// The first element.
    pub ptr: *mut T,
    /// Distance of neighbouring rows.
    pub rows: isize,
    /// Distance of neighbouring columns.
    pub columns: isize,
}

// SAFETY: a matrix is no right to its memory.
#[allow(unsafe_code, reason = "a place in memory")]
unsafe impl<T> Send for Matrix<T> {}
// SAFETY: as above.
#[allow(unsafe_code, reason = "a place in memory")]
unsafe impl<T> Sync for Matrix<T> {}

impl<T> Matrix<T> {
    /// Rows for columns.
    pub(crate) fn transposed(self) -> Matrix<T> {
        Matrix { ptr: self.ptr, rows: self.columns, columns: self.rows }
    }

    /// The matrix whose first element is `(i, j)` of this one.
    pub(crate) fn from(self, i: usize, j: usize) -> Matrix<T> {
        let ptr = self.ptr.wrapping_offset(i as isize * self.rows + j as isize * self.columns);
        Matrix { ptr, ..self }
    }
}
