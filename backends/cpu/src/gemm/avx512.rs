//! Kernels for x86-64-v4: tiles of 12 rows by two vectors of 512 bits, 24 of the 32 registers for sums.
#![allow(unsafe_code, reason = "the processor's own instructions on raw memory")]

use super::kernel::{Kernel, Tile, kernel};
use std::arch::x86_64::*;

pub(super) static SINGLE: Kernel<f32> = Kernel::new([12, 32], 384, 512 << 10, single::run);
pub(super) static DOUBLE: Kernel<f64> = Kernel::new([12, 16], 384, 512 << 10, double::run);

/// Names for the instructions that the kernel's text uses.
macro_rules! vectors {
    ($t:ty, $vector:ty, $mask:ty, $zero:ident $set:ident $load:ident $store:ident $add:ident $fma:ident
     $maskload:ident $maskstore:ident) => {
        #[target_feature(enable = "avx512f")]
        #[inline]
        fn zero() -> $vector {
            $zero()
        }
        #[target_feature(enable = "avx512f")]
        #[inline]
        fn add(x: $vector, y: $vector) -> $vector {
            $add(x, y)
        }
        #[target_feature(enable = "avx512f")]
        #[inline]
        fn fma(x: $vector, y: $vector, z: $vector) -> $vector {
            $fma(x, y, z)
        }
        #[target_feature(enable = "avx512f")]
        #[inline]
        unsafe fn broadcast(at: *const $t) -> $vector {
            // SAFETY: the caller's promise.
            $set(unsafe { *at })
        }
        #[target_feature(enable = "avx512f")]
        #[inline]
        unsafe fn load(at: *const $t) -> $vector {
            // SAFETY: the caller's promise.
            unsafe { $load(at) }
        }
        #[target_feature(enable = "avx512f")]
        #[inline]
        unsafe fn store(at: *mut $t, x: $vector) {
            // SAFETY: the caller's promise.
            unsafe { $store(at, x) }
        }
        #[target_feature(enable = "avx512f")]
        #[inline]
        fn some(n: usize) -> $mask {
            ((1u32 << n) - 1) as $mask
        }
        #[target_feature(enable = "avx512f")]
        #[inline]
        unsafe fn load_some(at: *const $t, some: $mask) -> $vector {
            // SAFETY: the caller's promise: what the mask leaves out is not read.
            unsafe { $maskload(some, at) }
        }
        #[target_feature(enable = "avx512f")]
        #[inline]
        unsafe fn store_some(at: *mut $t, some: $mask, x: $vector) {
            // SAFETY: the caller's promise: what the mask leaves out is not written.
            unsafe { $maskstore(at, some, x) }
        }
    };
}

mod single {
    use super::*;

    vectors!(f32, __m512, __mmask16, _mm512_setzero_ps _mm512_set1_ps _mm512_loadu_ps _mm512_storeu_ps _mm512_add_ps
        _mm512_fmadd_ps _mm512_maskz_loadu_ps _mm512_mask_storeu_ps);
    kernel!("avx512f", f32, 16, 12: 1 2 3 4 5 6 7 8 9 10 11 12);
}

mod double {
    use super::*;

    vectors!(f64, __m512d, __mmask8, _mm512_setzero_pd _mm512_set1_pd _mm512_loadu_pd _mm512_storeu_pd _mm512_add_pd
        _mm512_fmadd_pd _mm512_maskz_loadu_pd _mm512_mask_storeu_pd);
    kernel!("avx512f", f64, 8, 12: 1 2 3 4 5 6 7 8 9 10 11 12);
}
