//! Products of tiles, in the registers of one instruction set: the right factor and the product have contiguous rows of
//! whole vectors, the left factor has any strides, so that neither keys nor values are packed.
#![allow(unsafe_code, reason = "the processor's own instructions, on raw memory")]

use super::real::Real;
use cotangent_hal::native::Float;

/// A matrix in memory: element `(i, j)` lies at `ptr + i * rows + j * columns`.
pub(super) struct Matrix<T> {
    pub ptr: *mut T,
    pub rows: isize,
    pub columns: isize,
}

impl<T> Clone for Matrix<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Matrix<T> {}

impl<T> Matrix<T> {
    /// Contiguous rows of `width` elements.
    pub(super) fn dense(ptr: *mut T, width: usize) -> Self {
        Matrix { ptr, rows: width as isize, columns: 1 }
    }

    pub(super) fn transposed(self) -> Self {
        Matrix { ptr: self.ptr, rows: self.columns, columns: self.rows }
    }

    /// The matrix whose first element is `(i, j)` of this one.
    pub(super) fn from(self, i: usize, j: usize) -> Self {
        Matrix { ptr: self.ptr.wrapping_offset(i as isize * self.rows + j as isize * self.columns), ..self }
    }
}

/// Extents of a product: `[m, k] [k, n] -> [m, n]`, where `n` is a multiple of [`Lanes::PANEL`].
#[derive(Clone, Copy)]
pub(super) struct Extents {
    pub m: usize,
    pub n: usize,
    pub k: usize,
}

/// The registers of an instruction set.
pub(super) trait Lanes {
    /// An element.
    type Real: Real;
    /// Some of them.
    type Vector: Copy;
    /// How many.
    const WIDTH: usize;
    /// Rows whose sums are in registers at once, at most 12.
    const ROWS: usize;
    /// Columns whose sums are in registers at once: two vectors.
    const PANEL: usize = 2 * Self::WIDTH;
    /// Whether there is a fused multiply-add.
    const FMA: bool;

    /// # Safety
    /// The processor has the instructions.
    unsafe fn splat(x: Self::Real) -> Self::Vector;
    /// # Safety
    /// As for [`splat`](Lanes::splat); `WIDTH` elements may be read.
    unsafe fn load(ptr: *const Self::Real) -> Self::Vector;
    /// # Safety
    /// As for [`splat`](Lanes::splat); `WIDTH` elements may be written.
    unsafe fn store(ptr: *mut Self::Real, x: Self::Vector);
    /// `a * b + c`.
    ///
    /// # Safety
    /// As for [`splat`](Lanes::splat).
    unsafe fn fma(a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector;

    /// `c = a b`, or `c += a b` where `add`; compiled once for the instruction set.
    ///
    /// # Safety
    /// As for [`splat`](Lanes::splat). The elements of `a` and `b` may be read, those of `c` are the caller's alone and
    /// overlap neither; rows of `b` and `c` are contiguous, and `n` is a multiple of `PANEL`.
    unsafe fn product(extents: Extents, a: Matrix<Self::Real>, b: Matrix<Self::Real>, c: Matrix<Self::Real>, add: bool);
}

/// The portable form: arrays, which rustc turns into what vectors the target has.
pub(super) struct Portable<T, const FMA: bool>(std::marker::PhantomData<T>);

/// Elements of a portable vector.
const PORTABLE: usize = 4;

impl<T: Real, const F: bool> Lanes for Portable<T, F> {
    type Real = T;
    type Vector = [T; PORTABLE];
    const WIDTH: usize = PORTABLE;
    const ROWS: usize = 6;
    const FMA: bool = F;

    #[inline(always)]
    unsafe fn splat(x: T) -> Self::Vector {
        [x; PORTABLE]
    }
    #[inline(always)]
    unsafe fn load(ptr: *const T) -> Self::Vector {
        // SAFETY: the caller's promise.
        unsafe { ptr.cast::<Self::Vector>().read() }
    }
    #[inline(always)]
    unsafe fn store(ptr: *mut T, x: Self::Vector) {
        // SAFETY: the caller's promise.
        unsafe { ptr.cast::<Self::Vector>().write(x) }
    }
    #[inline(always)]
    unsafe fn fma(a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector {
        std::array::from_fn(|i| a[i].fma::<F>(b[i], c[i]))
    }
    unsafe fn product(extents: Extents, a: Matrix<T>, b: Matrix<T>, c: Matrix<T>, add: bool) {
        // SAFETY: the caller's promise.
        unsafe { product::<Self>(extents, a, b, c, add) }
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use x86::{Avx2, Avx512};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Extents, Lanes, Matrix, product};
    use std::arch::x86_64::*;

    /// Declares the registers of an instruction set.
    macro_rules! registers {
        ($(#[$doc:meta])* $name:ident $features:literal $width:literal $rows:literal $vector:ident
         $splat:ident $load:ident $store:ident $fma:ident) => {
            $(#[$doc])*
            pub(in crate::attention) struct $name;

            impl Lanes for $name {
                type Real = f32;
                type Vector = $vector;
                const WIDTH: usize = $width;
                const ROWS: usize = $rows;
                const FMA: bool = true;

                #[inline(always)]
                unsafe fn splat(x: f32) -> $vector {
                    // SAFETY: the caller's promise.
                    unsafe { $splat(x) }
                }
                #[inline(always)]
                unsafe fn load(ptr: *const f32) -> $vector {
                    // SAFETY: the caller's promise.
                    unsafe { $load(ptr) }
                }
                #[inline(always)]
                unsafe fn store(ptr: *mut f32, x: $vector) {
                    // SAFETY: the caller's promise.
                    unsafe { $store(ptr, x) }
                }
                #[inline(always)]
                unsafe fn fma(a: $vector, b: $vector, c: $vector) -> $vector {
                    // SAFETY: the caller's promise.
                    unsafe { $fma(a, b, c) }
                }
                #[target_feature(enable = $features)]
                unsafe fn product(extents: Extents, a: Matrix<f32>, b: Matrix<f32>, c: Matrix<f32>, add: bool) {
                    // SAFETY: the caller's promise.
                    unsafe { product::<Self>(extents, a, b, c, add) }
                }
            }
        };
    }

    registers! {
        /// Sixteen registers of eight `f32`.
        Avx2 "avx2,fma" 8 6 __m256 _mm256_set1_ps _mm256_loadu_ps _mm256_storeu_ps _mm256_fmadd_ps
    }
    registers! {
        /// Thirty-two registers of sixteen `f32`.
        Avx512 "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw" 16 12 __m512 _mm512_set1_ps _mm512_loadu_ps _mm512_storeu_ps
        _mm512_fmadd_ps
    }
}

/// See [`Lanes::product`].
///
/// # Safety
/// As there.
#[inline(always)]
unsafe fn product<L: Lanes>(
    Extents { m, n, k }: Extents,
    a: Matrix<L::Real>,
    b: Matrix<L::Real>,
    c: Matrix<L::Real>,
    add: bool,
) {
    for j in (0..n).step_by(L::PANEL) {
        for i in (0..m).step_by(L::ROWS) {
            let (a, b, c) = (a.from(i, 0), b.from(0, j), c.from(i, j));
            // SAFETY: rows and columns of the factors and of the product.
            unsafe { rows::<L>(L::ROWS.min(m - i), k, a, b, c, add) };
        }
    }
}

/// One panel of a product of at most `ROWS` rows.
///
/// # Safety
/// As for [`Lanes::product`].
#[inline(always)]
unsafe fn rows<L: Lanes>(rows: usize, k: usize, a: Matrix<L::Real>, b: Matrix<L::Real>, c: Matrix<L::Real>, add: bool) {
    macro_rules! by_rows {
        ($($n:literal)*) => {
            match rows {
                // The condition is known when this is compiled: what no instruction set needs is not there.
                $($n if $n <= L::ROWS => unsafe { panel::<L, $n>(k, a, b, c, add) },)*
                _ => {}
            }
        };
    }
    // SAFETY (of each): the caller's promise.
    #[allow(clippy::undocumented_unsafe_blocks, reason = "said above, once for all rows of the macro")]
    {
        by_rows!(1 2 3 4 5 6 7 8 9 10 11 12)
    }
}

/// # Safety
/// As for [`rows`].
#[inline(always)]
unsafe fn panel<L: Lanes, const M: usize>(
    k: usize,
    a: Matrix<L::Real>,
    b: Matrix<L::Real>,
    c: Matrix<L::Real>,
    add: bool,
) {
    // SAFETY: `M` rows of `a` and `c`, `k` rows of `b`, each of one panel.
    unsafe {
        let mut sums = [[L::splat(L::Real::ZERO); 2]; M];
        if add {
            for (i, sums) in sums.iter_mut().enumerate() {
                let row = c.from(i, 0).ptr;
                *sums = [L::load(row), L::load(row.add(L::WIDTH))];
            }
        }
        let (mut column, mut row) = (a.ptr.cast_const(), b.ptr.cast_const());
        for _ in 0..k {
            let right = [L::load(row), L::load(row.add(L::WIDTH))];
            for (i, sums) in sums.iter_mut().enumerate() {
                let left = L::splat(*column.wrapping_offset(i as isize * a.rows));
                *sums = [L::fma(left, right[0], sums[0]), L::fma(left, right[1], sums[1])];
            }
            (column, row) = (column.wrapping_offset(a.columns), row.wrapping_offset(b.rows));
        }
        for (i, sums) in sums.iter().enumerate() {
            let row = c.from(i, 0).ptr;
            L::store(row, sums[0]);
            L::store(row.add(L::WIDTH), sums[1]);
        }
    }
}
