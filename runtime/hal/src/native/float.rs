use super::scalar::Number;
use std::ops::{Add, Mul};

/// What functions that several kernel bodies share compute in: `f32` or `f64`. Sealed.
///
/// A body itself is plain code over `Real`; only what it calls with `Real` values needs this.
pub trait Float: Number + Add<Output = Self> + Mul<Output = Self> + sealed::Sealed {
    /// 0.
    const ZERO: Self;

    /// `self * b + c`, with one rounding where `FMA`.
    fn fma<const FMA: bool>(self, b: Self, c: Self) -> Self;
}

macro_rules! float {
    ($($t:ident)*) => { $(
        impl Float for $t {
            const ZERO: $t = 0.0;

            #[inline(always)]
            fn fma<const FMA: bool>(self, b: $t, c: $t) -> $t {
                if FMA { self.mul_add(b, c) } else { self * b + c }
            }
        }
        impl sealed::Sealed for $t {}
    )* };
}
float!(f32 f64);

mod sealed {
    /// Keeps [`Float`](super::Float) to the two types.
    pub trait Sealed {}
}
