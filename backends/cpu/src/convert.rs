//! Conversion between stored and computed elements, over slices that lie one after another.
//!
//! On the way in every conversion is exact. On the way out floats are rounded once, to nearest with ties to even, and
//! integers wrap. All loops are straight-line, so that they vectorise; binary16 takes the processor's own instructions
//! where it has them.
#![allow(unsafe_code, reason = "makes slices of verified raw memory and calls a variant that the processor has")]

use cotangent_hal::DType;
use cotangent_hal::native::Level;
use half::f16;
use half::slice::{HalfBitsSliceExt, HalfFloatSliceExt};
use std::slice;

/// Elements that are converted through a buffer at once.
const BLOCK: usize = 256;

/// Converts `n` elements; does nothing where neither dtype is one that the other computes in.
///
/// # Safety
/// `n` initialised elements of `from` at `src` may be read, `n` of `to` at `dst` are the caller's alone; both are
/// aligned, and neither overlaps the other.
pub(crate) unsafe fn elements(from: DType, to: DType, src: *const u8, dst: *mut u8, n: usize) {
    let body = BODIES[Level::detect() as usize];
    // SAFETY: the caller's promise; the processor has the level.
    unsafe { body(from, to, src, dst, n) }
}

type Body = unsafe fn(DType, DType, *const u8, *mut u8, usize);

/// The same text for each level.
static BODIES: [Body; 3] = [base, v3, v4];

/// # Safety
/// As for [`elements`].
unsafe fn base(from: DType, to: DType, src: *const u8, dst: *mut u8, n: usize) {
    // SAFETY: the caller's promise.
    unsafe { any::<false>(from, to, src, dst, n) }
}

/// # Safety
/// As for [`elements`], on a processor of this level.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,f16c")]
unsafe fn v3(from: DType, to: DType, src: *const u8, dst: *mut u8, n: usize) {
    // SAFETY: the caller's promise.
    unsafe { any::<true>(from, to, src, dst, n) }
}

/// # Safety
/// As for [`elements`], on a processor of this level.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,f16c,avx512f,avx512vl,avx512dq,avx512bw")]
unsafe fn v4(from: DType, to: DType, src: *const u8, dst: *mut u8, n: usize) {
    // SAFETY: the caller's promise.
    unsafe { any::<true>(from, to, src, dst, n) }
}

#[cfg(not(target_arch = "x86_64"))]
use {base as v3, base as v4};

/// # Safety
/// As for [`elements`]; where `F16C`, on a processor with these instructions.
#[inline(always)]
unsafe fn any<const F16C: bool>(from: DType, to: DType, src: *const u8, dst: *mut u8, n: usize) {
    // SAFETY: the caller's promise, for the types that `from` and `to` name.
    unsafe {
        match (from, to) {
            (DType::F16, DType::F32) => f16_to_f32::<F16C>(input(src, n), output(dst, n)),
            (DType::F32, DType::F16) => f32_to_f16::<F16C>(input(src, n), output(dst, n)),
            (DType::F16, DType::F64) => f16_to_f64::<F16C>(input(src, n), output(dst, n)),
            (DType::F64, DType::F16) => f64_to_f16::<F16C>(input(src, n), output(dst, n)),
            (DType::BF16, DType::F32) => each(input(src, n), output(dst, n), bf16_to_f32),
            (DType::F32, DType::BF16) => each(input(src, n), output(dst, n), f32_to_bf16),
            (DType::BF16, DType::F64) => each(input(src, n), output(dst, n), |v| f64::from(bf16_to_f32(v))),
            (DType::F64, DType::BF16) => each(input(src, n), output(dst, n), |v| f32_to_bf16(to_odd(v))),
            (DType::F32, DType::F64) => each(input::<f32>(src, n), output(dst, n), f64::from),
            (DType::F64, DType::F32) => each(input::<f64>(src, n), output(dst, n), |v| v as f32),
            (DType::I32, DType::I64) => each(input::<i32>(src, n), output(dst, n), i64::from),
            (DType::I64, DType::I32) => each(input::<i64>(src, n), output(dst, n), |v| v as i32),
            (DType::U8, DType::I64) => each(input::<u8>(src, n), output(dst, n), i64::from),
            (DType::I64, DType::U8) => each(input::<i64>(src, n), output(dst, n), |v| v as u8),
            (from, to) => {
                debug_assert_eq!(from, to, "pairs are verified before");
                if from == to {
                    src.copy_to_nonoverlapping(dst, n * from.size());
                }
            }
        }
    }
}

/// # Safety
/// `n` initialised, aligned elements that nobody writes while the slice lives.
unsafe fn input<'a, T>(ptr: *const u8, n: usize) -> &'a [T] {
    // SAFETY: the caller's promise.
    unsafe { slice::from_raw_parts(ptr.cast(), n) }
}

/// # Safety
/// `n` aligned elements of memory that is initialised, as all of the pool is, and that nobody else uses meanwhile.
unsafe fn output<'a, T>(ptr: *mut u8, n: usize) -> &'a mut [T] {
    // SAFETY: the caller's promise.
    unsafe { slice::from_raw_parts_mut(ptr.cast(), n) }
}

#[inline(always)]
fn each<S: Copy, T>(src: &[S], dst: &mut [T], f: impl Fn(S) -> T) {
    for (d, &s) in dst.iter_mut().zip(src) {
        *d = f(s);
    }
}

/// The bits are the upper ones of the `f32`.
#[inline(always)]
fn bf16_to_f32(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// Adding half of the last place, less one where that place is even, carries into it exactly where the number rounds
/// up.
#[inline(always)]
fn f32_to_bf16(value: f32) -> u16 {
    let bits = value.to_bits();
    let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
    // The quiet bit keeps a NaN whose payload lies in the lower half from becoming infinite.
    let nan = bits >> 16 | 0x40;
    (if value.is_nan() { nan } else { rounded }) as u16
}

/// # Safety
/// Where `F16C`, the processor has these instructions.
#[inline(always)]
unsafe fn f16_to_f32<const F16C: bool>(src: &[u16], dst: &mut [f32]) {
    #[cfg(target_arch = "x86_64")]
    if F16C {
        // SAFETY: the caller's promise.
        return unsafe { f16c::widen(src, dst) };
    }
    src.reinterpret_cast::<f16>().convert_to_f32_slice(dst);
}

/// # Safety
/// Where `F16C`, the processor has these instructions.
#[inline(always)]
unsafe fn f32_to_f16<const F16C: bool>(src: &[f32], dst: &mut [u16]) {
    #[cfg(target_arch = "x86_64")]
    if F16C {
        // SAFETY: the caller's promise.
        return unsafe { f16c::round(src, dst) };
    }
    dst.reinterpret_cast_mut::<f16>().convert_from_f32_slice(src);
}

/// # Safety
/// Where `F16C`, the processor has these instructions.
#[inline(always)]
unsafe fn f16_to_f64<const F16C: bool>(src: &[u16], dst: &mut [f64]) {
    let mut block = [0f32; BLOCK];
    for (src, dst) in src.chunks(BLOCK).zip(dst.chunks_mut(BLOCK)) {
        let single = &mut block[..src.len()];
        // SAFETY: the caller's promise.
        unsafe { f16_to_f32::<F16C>(src, single) };
        each(single, dst, f64::from);
    }
}

/// # Safety
/// Where `F16C`, the processor has these instructions.
#[inline(always)]
unsafe fn f64_to_f16<const F16C: bool>(src: &[f64], dst: &mut [u16]) {
    let mut block = [0f32; BLOCK];
    for (src, dst) in src.chunks(BLOCK).zip(dst.chunks_mut(BLOCK)) {
        let odd = &mut block[..src.len()];
        each(src, odd, to_odd);
        // SAFETY: the caller's promise.
        unsafe { f32_to_f16::<F16C>(odd, dst) };
    }
}

/// Eight numbers an instruction.
#[cfg(target_arch = "x86_64")]
mod f16c {
    use half::f16;
    use std::arch::x86_64::*;

    #[target_feature(enable = "avx,f16c")]
    #[inline]
    pub(super) fn widen(src: &[u16], dst: &mut [f32]) {
        let ((from, from_rest), (to, to_rest)) = (src.as_chunks::<8>(), dst.as_chunks_mut::<8>());
        for (from, to) in from.iter().zip(to) {
            // SAFETY: eight elements on either side, in any alignment.
            unsafe { _mm256_storeu_ps(to.as_mut_ptr(), _mm256_cvtph_ps(_mm_loadu_si128(from.as_ptr().cast()))) };
        }
        for (from, to) in from_rest.iter().zip(to_rest) {
            *to = f16::from_bits(*from).to_f32();
        }
    }

    #[target_feature(enable = "avx,f16c")]
    #[inline]
    pub(super) fn round(src: &[f32], dst: &mut [u16]) {
        let ((from, from_rest), (to, to_rest)) = (src.as_chunks::<8>(), dst.as_chunks_mut::<8>());
        for (from, to) in from.iter().zip(to) {
            // SAFETY: eight elements on either side, in any alignment.
            unsafe {
                let rounded = _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm256_loadu_ps(from.as_ptr()));
                _mm_storeu_si128(to.as_mut_ptr().cast(), rounded);
            }
        }
        for (from, to) in from_rest.iter().zip(to_rest) {
            *to = f16::from_f32(*from).to_bits();
        }
    }
}

/// `value` as `f32`, an inexact one as the neighbour whose last bit is 1: rounded on to a shorter format, that gives
/// what one rounding of `value` would.
#[inline(always)]
fn to_odd(value: f64) -> f32 {
    let near = value as f32;
    let back = f64::from(near);
    let bits = near.to_bits();
    // Towards zero first; what lies beyond the largest number has become infinite, and steps back to it.
    let cut = if back.abs() > value.abs() { bits.wrapping_sub(1) } else { bits };
    let inexact = back != value && !value.is_nan();
    f32::from_bits(if inexact { cut | 1 } else { bits })
}

#[cfg(test)]
mod tests {
    use super::*;
    use half::bf16;

    fn convert<S: Copy, T: Copy + Default + PartialOrd>(from: DType, to: DType, src: &[S]) -> Vec<T> {
        assert!(from.size() == size_of::<S>() && to.size() == size_of::<T>());
        let mut dst = vec![T::default(); src.len()];
        // SAFETY: both slices have `src.len()` elements of the dtypes' sizes.
        unsafe { elements(from, to, src.as_ptr().cast(), dst.as_mut_ptr().cast(), src.len()) };
        let mut plain = vec![T::default(); src.len()];
        // SAFETY: as above.
        unsafe { base(from, to, src.as_ptr().cast(), plain.as_mut_ptr().cast(), src.len()) };
        let nan = |v: &T| v.partial_cmp(v).is_none();
        let mut pairs = dst.iter().zip(&plain);
        // Miri has one level, and gives a NaN any of its bits.
        let same = cfg!(miri) || pairs.all(|(a, b)| a == b || nan(a) && nan(b));
        assert!(same, "levels differ on {from} to {to}");
        dst
    }

    /// Of how many values one is taken: all but under Miri, which would take an hour for them. No power of two, so that
    /// fractions and exponents of all kinds are among them.
    const STEP: usize = if cfg!(miri) { 1031 } else { 1 };

    /// `2^n`, exact. Miri gives `powi` the error that its definition permits.
    fn power(n: i32) -> f64 {
        f64::from_bits(((1023 + n) as u64) << 52)
    }

    /// The value of a binary16 by its definition.
    fn f16_value(bits: u16) -> f64 {
        let (sign, exponent, fraction) = (bits >> 15, i32::from(bits >> 10 & 31), f64::from(bits & 1023));
        let size = match exponent {
            0 => fraction * power(-24),
            31 if fraction == 0.0 => f64::INFINITY,
            31 => f64::NAN,
            _ => (1024.0 + fraction) * power(exponent - 25),
        };
        if sign == 1 { -size } else { size }
    }

    fn value(dtype: DType, bits: u16) -> f64 {
        if dtype == DType::F16 { f16_value(bits) } else { f64::from(f32::from_bits(u32::from(bits) << 16)) }
    }

    fn same(a: f64, b: f64) -> bool {
        a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
    }

    /// Every value becomes itself and comes back with the same bits; a NaN stays one.
    #[test]
    fn all_values_of_16_bits_go_both_ways() {
        let bits: Vec<u16> = (0..=u16::MAX).step_by(STEP).collect();
        for dtype in [DType::F16, DType::BF16] {
            let value = |b: u16| value(dtype, b);
            let single: Vec<f32> = convert(dtype, DType::F32, &bits);
            let double: Vec<f64> = convert(dtype, DType::F64, &bits);
            let from_single: Vec<u16> = convert(DType::F32, dtype, &single);
            let from_double: Vec<u16> = convert(DType::F64, dtype, &double);
            for (i, &b) in bits.iter().enumerate() {
                assert!(same(f64::from(single[i]), value(b)) && same(double[i], value(b)), "{dtype} {b:#06x}");
                if value(b).is_nan() {
                    assert!(value(from_single[i]).is_nan() && value(from_double[i]).is_nan(), "{dtype} {b:#06x}");
                } else {
                    assert_eq!((from_single[i], from_double[i]), (b, b), "{dtype} {b:#06x}");
                }
            }
        }
    }

    /// Between neighbours: the middle goes to the even one, everything else to the nearer, from `f32` and from `f64`,
    /// where numbers next to the middle must not be rounded twice.
    #[test]
    fn rounding_is_to_nearest_with_ties_to_even() {
        for (dtype, infinity) in [(DType::F16, 0x7c00u16), (DType::BF16, 0x7f80)] {
            // What would come after the largest number, were there one more exponent, decides where infinity begins.
            let beyond = if dtype == DType::F16 { 65536.0 } else { power(128) };
            let value = |b: u16| if b == infinity { beyond } else { value(dtype, b) };
            let (mut given, mut wanted) = (Vec::new(), Vec::new());
            for low in (0..infinity).step_by(STEP).chain([infinity - 1]) {
                let middle = (value(low) + value(low + 1)) / 2.0;
                let even = if low & 1 == 0 { low } else { low + 1 };
                given.extend([middle, middle.next_down(), middle.next_up()]);
                wanted.extend([even, low, low + 1]);
            }
            let negative: Vec<f64> = given.iter().map(|v| -v).collect();
            let got: Vec<u16> = convert(DType::F64, dtype, &given);
            assert!(got == wanted, "{dtype}");
            let got: Vec<u16> = convert(DType::F64, dtype, &negative);
            assert!(got.iter().zip(&wanted).all(|(g, w)| *g == w | 0x8000), "{dtype}");
            let singles: Vec<f32> = given
                .chunks(3)
                .flat_map(|m| [m[0] as f32, (m[0] as f32).next_down(), (m[0] as f32).next_up()])
                .collect();
            let got: Vec<u16> = convert(DType::F32, dtype, &singles);
            for (i, (g, w)) in got.iter().zip(&wanted).enumerate() {
                assert_eq!(g, w, "{dtype}: {:e}", singles[i]);
            }
        }
        let far = [f64::MAX, f64::INFINITY, 1e39, -1e39, 1e-300, -1e-300, f64::NAN];
        let bf: Vec<u16> = convert(DType::F64, DType::BF16, &far);
        assert_eq!(bf[..6], [0x7f80, 0x7f80, 0x7f80, 0xff80, 0, 0x8000]);
        let hf: Vec<u16> = convert(DType::F64, DType::F16, &far);
        assert_eq!(hf[..6], [0x7c00, 0x7c00, 0x7c00, 0xfc00, 0, 0x8000]);
        assert!(f16::from_bits(hf[6]).is_nan() && bf16::from_bits(bf[6]).is_nan());
        // A NaN whose payload is in the lower half alone.
        let nan: Vec<u16> = convert(DType::F32, DType::BF16, &[f32::from_bits(0x7f80_0001)]);
        assert!(bf16::from_bits(nan[0]).is_nan());
    }

    #[test]
    fn integers_wrap() {
        let bytes: Vec<u8> = (0..=u8::MAX).collect();
        let wide: Vec<i64> = convert(DType::U8, DType::I64, &bytes);
        assert!(wide.iter().zip(0..256).all(|(&v, i)| v == i));
        let moved: Vec<i64> = wide.iter().flat_map(|v| [*v, v - 256, v + 512]).collect();
        let back: Vec<u8> = convert(DType::I64, DType::U8, &moved);
        assert!(back.chunks(3).zip(&bytes).all(|(c, b)| c == [*b; 3]));
        let ints = [0, 1, -1, i32::MAX, i32::MIN];
        let wide: Vec<i64> = convert(DType::I32, DType::I64, &ints);
        assert_eq!(wide, ints.map(i64::from));
        let back: Vec<i32> = convert(DType::I64, DType::I32, &[1i64 << 32, (1 << 31) + 5, -1, i64::MIN]);
        assert_eq!(back, [0, i32::MIN + 5, -1, 0]);
    }
}
