//! What attention computes in.

use super::product::Lanes;
use crate::gemm::Element;
use cotangent_hal::native::{math, math64};
use std::ops::{Div, Neg, Sub};

/// `f32` or `f64`.
pub(super) trait Real: Element + Sub<Output = Self> + Div<Output = Self> + Neg<Output = Self> {
    /// Above all numbers.
    const INFINITY: Self;

    /// The nearest number.
    fn of(x: f64) -> Self;
    /// `e^x`.
    fn exp<const FMA: bool>(self) -> Self;
    /// The natural logarithm.
    fn log<const FMA: bool>(self) -> Self;
}

macro_rules! real {
    ($($t:ident $math:ident;)*) => { $(
        impl Real for $t {
            const INFINITY: $t = $t::INFINITY;

            #[inline(always)]
            #[allow(clippy::unnecessary_cast, reason = "one of the two types is `f64`")]
            fn of(x: f64) -> $t {
                x as $t
            }
            #[inline(always)]
            fn exp<const FMA: bool>(self) -> $t {
                $math::exp::<FMA>(self)
            }
            #[inline(always)]
            fn log<const FMA: bool>(self) -> $t {
                $math::log::<FMA>(self)
            }
        }
    )* };
}
real! {
    f32 math;
    f64 math64;
}

/// `e^x` by the instructions of `L`.
#[inline(always)]
pub(super) fn exp<L: Lanes>(x: L::Real) -> L::Real {
    if L::FMA { x.exp::<true>() } else { x.exp::<false>() }
}
