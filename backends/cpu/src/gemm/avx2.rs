//! Kernels for x86-64-v3: tiles of 6 rows by two vectors of 256 bits, 12 of the 16 registers for sums.
#![allow(unsafe_code, reason = "the processor's own instructions on raw memory")]

use super::kernel::{self, Kernel, SIDE, Tile, kernel};
use half::bf16;
use std::arch::x86_64::*;

pub(super) static SINGLE: Kernel<f32> = Kernel::new([6, 16], 256, 192 << 10, single::run);
pub(super) static DOUBLE: Kernel<f64> = Kernel::new([6, 8], 256, 192 << 10, double::run);

/// Names for the instructions that the kernel's text uses.
macro_rules! vectors {
    ($t:ty, $vector:ty, $zero:ident $set:ident $load:ident $store:ident $add:ident $fma:ident
     $maskload:ident $maskstore:ident, $some:expr) => {
        #[target_feature(enable = "avx2,fma")]
        #[inline]
        fn zero() -> $vector {
            $zero()
        }
        #[target_feature(enable = "avx2,fma")]
        #[inline]
        fn add(x: $vector, y: $vector) -> $vector {
            $add(x, y)
        }
        #[target_feature(enable = "avx2,fma")]
        #[inline]
        fn fma(x: $vector, y: $vector, z: $vector) -> $vector {
            $fma(x, y, z)
        }
        #[target_feature(enable = "avx2,fma")]
        #[inline]
        unsafe fn broadcast(at: *const $t) -> $vector {
            // SAFETY: the caller's promise.
            $set(unsafe { *at })
        }
        #[target_feature(enable = "avx2,fma")]
        #[inline]
        unsafe fn load(at: *const $t) -> $vector {
            // SAFETY: the caller's promise.
            unsafe { $load(at) }
        }
        #[target_feature(enable = "avx2,fma")]
        #[inline]
        unsafe fn store(at: *mut $t, x: $vector) {
            // SAFETY: the caller's promise.
            unsafe { $store(at, x) }
        }
        #[target_feature(enable = "avx2,fma")]
        #[inline]
        fn some(n: usize) -> __m256i {
            $some(n)
        }
        #[target_feature(enable = "avx2,fma")]
        #[inline]
        unsafe fn load_some(at: *const $t, some: __m256i) -> $vector {
            // SAFETY: the caller's promise: what the mask leaves out is not read.
            unsafe { $maskload(at, some) }
        }
        #[target_feature(enable = "avx2,fma")]
        #[inline]
        unsafe fn store_some(at: *mut $t, some: __m256i, x: $vector) {
            // SAFETY: the caller's promise: what the mask leaves out is not written.
            unsafe { $maskstore(at, some, x) }
        }
    };
}

mod single {
    use super::*;

    vectors!(f32, __m256, _mm256_setzero_ps _mm256_set1_ps _mm256_loadu_ps _mm256_storeu_ps _mm256_add_ps
    _mm256_fmadd_ps _mm256_maskload_ps _mm256_maskstore_ps, |n: usize| {
        let places = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
        _mm256_cmpgt_epi32(_mm256_set1_epi32(n as i32), places)
    });
    kernel!("avx2,fma", f32, 8, 6: 1 2 3 4 5 6);
}

mod double {
    use super::*;

    vectors!(f64, __m256d, _mm256_setzero_pd _mm256_set1_pd _mm256_loadu_pd _mm256_storeu_pd _mm256_add_pd
    _mm256_fmadd_pd _mm256_maskload_pd _mm256_maskstore_pd, |n: usize| {
        let places = _mm256_setr_epi64x(0, 1, 2, 3);
        _mm256_cmpgt_epi64(_mm256_set1_epi64x(n as i64), places)
    });
    kernel!("avx2,fma", f64, 4, 6: 1 2 3 4 5 6);
}

/// See [`kernel::turn`].
///
/// # Safety
/// As there, on a processor with these instructions.
#[target_feature(enable = "avx2,fma")]
#[inline]
pub(super) unsafe fn turn(square: &[[f32; SIDE]; SIDE], rows: usize, to: *mut f32, step: usize) {
    if !matches!(rows, 4 | 6 | 8) {
        // SAFETY: the caller's promise.
        return unsafe { kernel::turn(square, rows, to, step) };
    }
    // SAFETY: a row of the square.
    let [a, b, c, d, e, f, g, h] = square.each_ref().map(|row| unsafe { _mm256_loadu_ps(row.as_ptr()) });
    let pairs = [(a, b), (c, d), (e, f), (g, h)].map(|(x, y)| (_mm256_unpacklo_ps(x, y), _mm256_unpackhi_ps(x, y)));
    let four = |(xl, xh): (__m256, __m256), (yl, yh): (__m256, __m256)| {
        [
            _mm256_shuffle_ps::<0x44>(xl, yl),
            _mm256_shuffle_ps::<0xee>(xl, yl),
            _mm256_shuffle_ps::<0x44>(xh, yh),
            _mm256_shuffle_ps::<0xee>(xh, yh),
        ]
    };
    let (upper, lower) = (four(pairs[0], pairs[1]), four(pairs[2], pairs[3]));
    for l in 0..4 {
        let columns =
            [_mm256_permute2f128_ps::<0x20>(upper[l], lower[l]), _mm256_permute2f128_ps::<0x31>(upper[l], lower[l])];
        for (half, column) in columns.into_iter().enumerate() {
            // SAFETY: the caller's promise: so many elements of a row.
            unsafe {
                let to = to.add((l + 4 * half) * step);
                if rows == 8 {
                    _mm256_storeu_ps(to, column);
                    continue;
                }
                _mm_storeu_ps(to, _mm256_castps256_ps128(column));
                if rows == 6 {
                    _mm_storel_pd(to.add(4).cast(), _mm_castps_pd(_mm256_extractf128_ps::<1>(column)));
                }
            }
        }
    }
}

/// Eight numbers of 16 bits from each of two places, in turn.
///
/// # Safety
/// They may be read, on a processor with these instructions.
#[target_feature(enable = "avx2,fma")]
#[inline]
pub(super) unsafe fn interleave([first, second]: [*const bf16; 2], to: &mut [f32; SIDE]) {
    // SAFETY: the caller's promise, in any alignment.
    unsafe {
        let [first, second] = [first, second].map(|from| _mm_loadu_si128(from.cast()));
        let (low, high) = (_mm_unpacklo_epi16(first, second), _mm_unpackhi_epi16(first, second));
        _mm256_storeu_si256(to.as_mut_ptr().cast(), _mm256_set_m128i(high, low));
    }
}
