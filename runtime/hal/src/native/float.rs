use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub};

/// What functions that several kernel bodies share compute in: `f32` or `f64`. Sealed.
///
/// A body itself is plain code over `Real`; only what it calls with `Real` values needs this.
pub trait Float:
    Copy
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + sealed::Sealed
{
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// Below all numbers.
    const NEG_INFINITY: Self;

    /// The number rounded to this precision: literals and constants.
    fn of(value: f64) -> Self;
    /// The square root.
    fn sqrt(self) -> Self;
    /// A power with any exponent, by the standard library.
    fn powf(self, exponent: Self) -> Self;
    /// Whether it is NaN.
    fn is_nan(self) -> bool;
    /// `self * b + c`, with one rounding where `FMA`.
    fn fma<const FMA: bool>(self, b: Self, c: Self) -> Self;
}

macro_rules! float {
    ($($t:ident)*) => { $(
        impl Float for $t {
            const ZERO: $t = 0.0;
            const ONE: $t = 1.0;
            const NEG_INFINITY: $t = $t::NEG_INFINITY;

            #[inline(always)]
            fn of(value: f64) -> $t {
                value as $t
            }
            #[inline(always)]
            fn sqrt(self) -> $t {
                self.sqrt()
            }
            #[inline(always)]
            fn powf(self, exponent: $t) -> $t {
                self.powf(exponent)
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                self.is_nan()
            }
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
