//! Reductions for bodies that are written by hand, in 64 lanes and a fixed tree: those of [`row`].
//!
//! A plain `iter().sum()` is never vectorised, since that would reorder the additions. Here element `i` is folded into
//! lane `i % 64`, and the lanes are folded in halves: an order that depends on the length alone, so that AVX2 and
//! AVX-512 give the same bits. All are generic over `f32` and `f64`.

use super::{Float, row};

/// The number of partial results.
pub const LANES: usize = 64;

/// The sum of `x y` over two slices of one length.
#[inline(always)]
pub fn dot<const FMA: bool, T: Float>(x: &[T], y: &[T]) -> T {
    row::fold([x, y], T::ZERO, |s, [x, y]| x.fma::<FMA>(y, s), |a, b| a + b)
}
