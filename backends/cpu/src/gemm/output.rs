//! Where the elements of a product go, and what is applied to them before.
#![allow(unsafe_code, reason = "writes to raw places")]

use super::Matrix;
use super::kernel::Element;
use crate::convert;
use crate::strided::{self, Side};
use cotangent_hal::DType;

/// The most elements of a tile of any kernel.
pub(super) const TILE: usize = 12 * 32;

/// The product's place, of any strides and float dtype.
pub(crate) struct Output {
    /// How elements are stored: rounded once, where they are narrower than those computed with.
    pub dtype: DType,
    /// The place, strides in elements of the dtype.
    pub matrix: Matrix<u8>,
}

impl Output {
    /// Rows for columns.
    pub(super) fn transposed(&self) -> Output {
        Output { dtype: self.dtype, matrix: self.matrix.transposed() }
    }

    /// The place, where sums can be added up in it.
    pub(super) fn in_place<T: Element>(&self) -> Option<Matrix<T>> {
        let Matrix { ptr, rows, columns } = self.matrix;
        (self.dtype == T::DTYPE && columns == 1).then_some(Matrix { ptr: ptr.cast(), rows, columns })
    }

    /// Stores a tile whose rows are contiguous, at `(i, j)`.
    ///
    /// # Safety
    /// The tile's elements are there, and their places in the product are the caller's alone.
    pub(super) unsafe fn store<T: Element>(&self, tile: Matrix<T>, [i, j]: [usize; 2], [m, n]: [usize; 2]) {
        let Matrix { ptr, rows, columns } = self.matrix;
        let offset = i as isize * rows + j as isize * columns;
        let ptr = ptr.wrapping_offset(offset * self.dtype.size() as isize);
        let (strides, from) = ([rows, columns], [tile.rows, 1]);
        let target = Side { ptr, strides: &strides };
        if self.dtype == T::DTYPE {
            let source = Side { ptr: tile.ptr.cast(), strides: &from };
            // SAFETY: the caller's promise.
            return unsafe { strided::copy(self.dtype, &[m, n], target, source) };
        }
        let mut rounded = [0u64; TILE];
        let size = self.dtype.size();
        let room = rounded.as_mut_ptr().cast::<u8>();
        // SAFETY: the tile's rows, of at most as many elements as there is room for; then the caller's promise.
        unsafe {
            for r in 0..m {
                let row = tile.from(r, 0).ptr.cast::<u8>();
                convert::elements(T::DTYPE, self.dtype, row, room.add(r * n * size), n);
            }
            let source = Side { ptr: room, strides: &[n as isize, 1] };
            strided::copy(self.dtype, &[m, n], target, source);
        }
    }
}
