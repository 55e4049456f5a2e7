//! Kernels in plain arrays, whose inner loops have constant extents, so that the compiler keeps the sums in vector
//! registers: 8 of SSE2's and SIMD128's 16, 24 of NEON's 32.
#![allow(unsafe_code, reason = "raw memory")]

use super::kernel::{Element, Kernel, Tile};

/// Fused multiply-add is a single instruction of the target.
const FMA: bool = cfg!(any(target_arch = "aarch64", target_feature = "fma"));
const ROWS: usize = if cfg!(target_arch = "aarch64") { 6 } else { 4 };
const VECTORS: usize = if cfg!(target_arch = "aarch64") { 4 } else { 2 };
/// Elements of two or four vectors of 128 bits.
const SINGLES: usize = 4 * VECTORS;
const DOUBLES: usize = 2 * VECTORS;

pub(super) static SINGLE: Kernel<f32> = Kernel::new([ROWS, SINGLES], 256, 192 << 10, run::<f32, SINGLES>);
pub(super) static DOUBLE: Kernel<f64> = Kernel::new([ROWS, DOUBLES], 256, 192 << 10, run::<f64, DOUBLES>);

/// # Safety
/// As for [`Kernel::tile`].
unsafe fn run<T: Element, const N: usize>(t: &Tile<T>) {
    // SAFETY: the caller's promise; the last tile of rows is computed as one of fewer.
    unsafe {
        match t.rows {
            1 => rows::<T, 1, N>(t),
            2 => rows::<T, 2, N>(t),
            3 => rows::<T, 3, N>(t),
            4 => rows::<T, 4, N>(t),
            5 => rows::<T, 5, N>(t),
            _ => rows::<T, 6, N>(t),
        }
    }
}

/// # Safety
/// As for [`Kernel::tile`], of a tile of `R` rows.
unsafe fn rows<T: Element, const R: usize, const N: usize>(t: &Tile<T>) {
    let mut sums = [[T::ZERO; N]; R];
    let full = t.columns == N;
    for l in 0..t.k as isize {
        let at = t.b.wrapping_offset(l * t.b_row);
        let mut x = [T::ZERO; N];
        if full {
            // SAFETY: row `l` of `b`.
            x = unsafe { at.cast::<[T; N]>().read_unaligned() };
        } else {
            for (j, x) in x[..t.columns].iter_mut().enumerate() {
                // SAFETY: an element of row `l` of `b`.
                *x = unsafe { at.add(j).read() };
            }
        }
        for (i, sums) in sums.iter_mut().enumerate() {
            // SAFETY: an element of column `l` of `a`.
            let y = unsafe { t.a.offset(i as isize * t.a_row + l * t.a_col).read() };
            for j in 0..N {
                sums[j] = y.fma::<FMA>(x[j], sums[j]);
            }
        }
    }
    for (i, sums) in sums.iter().enumerate() {
        let at = t.c.wrapping_offset(i as isize * t.c_row);
        for (j, &sum) in sums[..t.columns].iter().enumerate() {
            // SAFETY: an element of row `i` of `c`.
            unsafe {
                let at = at.add(j);
                at.write(if t.accumulate { at.read() + sum } else { sum });
            }
        }
    }
}
