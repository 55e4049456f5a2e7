//! Where the elements of a product go, and what is applied to them before.
#![allow(unsafe_code, reason = "writes to raw places")]

use super::Matrix;
use super::kernel::Element;
use crate::convert;
use crate::strided::{self, Side};
use cotangent_hal::native::Level;
use cotangent_hal::{Activation, DType};
use std::slice;

/// The most elements of a tile of any kernel.
pub(super) const TILE: usize = 32 * 32;

/// Elements that an epilogue is applied to at a time.
const WIDE: usize = 96;

/// The product's place, of any strides and float dtype, and what is applied to its elements.
#[derive(Clone, Copy)]
pub(crate) struct Output<T> {
    /// How elements are stored: rounded once, where they are narrower than those computed with.
    pub dtype: DType,
    /// The place, strides in elements of the dtype.
    pub matrix: Matrix<u8>,
    /// What is applied to each element.
    pub epilogue: Epilogue<T>,
}

/// What is applied to sums before they are stored.
#[derive(Clone, Copy)]
pub(crate) struct Epilogue<T> {
    /// What is added: one number a row (`columns` is 0) or a column (`rows` is 0).
    pub bias: Option<Matrix<T>>,
    /// The function.
    pub activation: Activation,
}

impl<T: Copy> Epilogue<T> {
    /// Nothing.
    pub(crate) const NONE: Self = Epilogue { bias: None, activation: Activation::Identity };

    /// Whether it leaves elements as they are.
    fn is_none(&self) -> bool {
        self.bias.is_none() && self.activation == Activation::Identity
    }

    /// That of the part of the product that begins at `(i, j)`.
    pub(crate) fn from(&self, i: usize, j: usize) -> Self {
        Epilogue { bias: self.bias.map(|bias| bias.from(i, j)), activation: self.activation }
    }
}

impl<T: Element> Epilogue<T> {
    /// Applies it to the elements of a matrix whose rows are contiguous.
    ///
    /// # Safety
    /// The matrix has `m` rows of `n` elements, the caller's alone, the bias may be read for each, and the processor has
    /// the level.
    pub(crate) unsafe fn apply(&self, level: Level, tile: Matrix<T>, [m, n]: [usize; 2]) {
        if self.is_none() {
            return;
        }
        // SAFETY: the caller's promise.
        unsafe {
            match level {
                #[cfg(target_arch = "x86_64")]
                Level::V4 => apply_v4(self, tile, m, n),
                #[cfg(target_arch = "x86_64")]
                Level::V3 => apply_v3(self, tile, m, n),
                _ => apply::<false, T>(self, tile, m, n),
            }
        }
    }
}

impl<T: Element> Output<T> {
    /// Rows for columns.
    pub(crate) fn transposed(&self) -> Self {
        let Epilogue { bias, activation } = self.epilogue;
        let epilogue = Epilogue { bias: bias.map(Matrix::transposed), activation };
        Output { dtype: self.dtype, matrix: self.matrix.transposed(), epilogue }
    }

    /// The part that begins at `(i, j)`.
    pub(crate) fn from(&self, i: usize, j: usize) -> Self {
        let Matrix { ptr, rows, columns } = self.matrix;
        let offset = i as isize * rows + j as isize * columns;
        let ptr = ptr.wrapping_offset(offset * self.dtype.size() as isize);
        Output { matrix: Matrix { ptr, rows, columns }, epilogue: self.epilogue.from(i, j), ..*self }
    }

    /// The place, where sums can be added up in it.
    pub(super) fn in_place(&self) -> Option<Matrix<T>> {
        let Matrix { ptr, rows, columns } = self.matrix;
        (self.dtype == T::DTYPE && columns == 1).then_some(Matrix { ptr: ptr.cast(), rows, columns })
    }

    /// Applies the epilogue to the sums of a tile, whose rows are contiguous, and stores them, where the tile is not the
    /// place itself.
    ///
    /// # Safety
    /// The tile's elements are there, they and their places in the product are the caller's alone, and the processor
    /// has the level.
    pub(crate) unsafe fn finish(&self, level: Level, tile: Matrix<T>, [m, n]: [usize; 2]) {
        // SAFETY: the caller's promise.
        unsafe {
            self.epilogue.apply(level, tile, [m, n]);
            if tile.ptr.cast() != self.matrix.ptr {
                self.store(tile, m, n);
            }
        }
    }

    /// # Safety
    /// As for [`Output::finish`].
    unsafe fn store(&self, tile: Matrix<T>, m: usize, n: usize) {
        let strides = [self.matrix.rows, self.matrix.columns];
        let target = Side { ptr: self.matrix.ptr, strides: &strides };
        if self.dtype == T::DTYPE {
            let source = Side { ptr: tile.ptr.cast(), strides: &[tile.rows, 1] };
            // SAFETY: the caller's promise.
            return unsafe { strided::copy(self.dtype, &[m, n], target, source) };
        }
        if self.matrix.columns == 1 {
            for i in 0..m {
                // SAFETY: a row of the tile, and its place.
                unsafe {
                    convert::elements(T::DTYPE, self.dtype, tile.from(i, 0).ptr.cast(), self.from(i, 0).matrix.ptr, n)
                };
            }
            return;
        }
        let mut rounded = [0u64; TILE / 4];
        let room = rounded.as_mut_ptr().cast::<u8>();
        let width = n.min(TILE);
        for i in 0..m {
            for j in (0..n).step_by(width) {
                let n = width.min(n - j);
                // SAFETY: a part of a row of the tile, for as many 16-bit elements as there is room for.
                unsafe {
                    convert::elements(T::DTYPE, self.dtype, tile.from(i, j).ptr.cast(), room, n);
                    let target = Side { ptr: self.from(i, j).matrix.ptr, strides: &strides[1..] };
                    strided::copy(self.dtype, &[n], target, Side { ptr: room, strides: &[1] });
                }
            }
        }
    }
}

/// # Safety
/// As for [`apply`], on a processor with these instructions.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
unsafe fn apply_v4<T: Element>(epilogue: &Epilogue<T>, tile: Matrix<T>, m: usize, n: usize) {
    // SAFETY: the caller's promise.
    unsafe { apply::<true, T>(epilogue, tile, m, n) }
}

/// # Safety
/// As for [`apply`], on a processor with these instructions.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn apply_v3<T: Element>(epilogue: &Epilogue<T>, tile: Matrix<T>, m: usize, n: usize) {
    // SAFETY: the caller's promise.
    unsafe { apply::<true, T>(epilogue, tile, m, n) }
}

/// # Safety
/// The tile has `m` rows of `n` contiguous elements, the caller's alone, and the bias may be read for each.
#[inline(always)]
unsafe fn apply<const FMA: bool, T: Element>(epilogue: &Epilogue<T>, tile: Matrix<T>, m: usize, n: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        match n {
            8 => apply_wide::<FMA, 8, T>(epilogue, tile, m),
            16 => apply_wide::<FMA, 16, T>(epilogue, tile, m),
            32 => apply_wide::<FMA, 32, T>(epilogue, tile, m),
            _ => {
                for i in 0..m {
                    let row = slice::from_raw_parts_mut(tile.from(i, 0).ptr, n);
                    if let Some(bias) = epilogue.bias {
                        row.iter_mut().enumerate().for_each(|(j, x)| *x = *x + bias.from(i, j).ptr.read());
                    }
                    T::activate::<FMA>(epilogue.activation, row);
                }
            }
        }
    }
}

/// [`apply`] for the rows of whole tiles, which are too short for loops over them: several are brought together.
///
/// # Safety
/// As for [`apply`], with `N` columns.
#[inline(always)]
unsafe fn apply_wide<const FMA: bool, const N: usize, T: Element>(epilogue: &Epilogue<T>, tile: Matrix<T>, m: usize) {
    let mut together = [T::ZERO; WIDE];
    let relu = epilogue.activation == Activation::Relu;
    for first in (0..m).step_by(WIDE / N) {
        let count = (m - first).min(WIDE / N);
        let rows = together.as_chunks_mut::<N>().0;
        for (i, row) in rows[..count].iter_mut().enumerate() {
            // SAFETY: a row of the tile, and the bias for it.
            let bias = unsafe {
                *row = tile.from(first + i, 0).ptr.cast::<[T; N]>().read_unaligned();
                match epilogue.bias.map(|bias| bias.from(first + i, 0)) {
                    None => [T::ZERO; N],
                    Some(Matrix { ptr, columns: 0, .. }) => [ptr.read(); N],
                    Some(Matrix { ptr, .. }) => ptr.cast::<[T; N]>().read_unaligned(),
                }
            };
            for j in 0..N {
                let x = row[j] + bias[j];
                // Of the sum, this is a choice; of what lies there already, it would be a store under a mask, which some
                // processors are slow at. A NaN stays one.
                row[j] = if relu && x <= T::ZERO { T::ZERO } else { x };
            }
        }
        if !relu {
            T::activate::<FMA>(epilogue.activation, &mut together[..count * N]);
        }
        for (i, row) in together.as_chunks::<N>().0[..count].iter().enumerate() {
            // SAFETY: a row of the tile.
            unsafe { tile.from(first + i, 0).ptr.cast::<[T; N]>().write_unaligned(*row) };
        }
    }
}
