//! Reductions over axes: what makes one number of many.

#![allow(non_snake_case, reason = "companions are named `<operation>__vjp`")]

mod extremes;
mod logic;
mod moments;
mod norm;
mod over;
mod product;

use super::fold::{self, SUM_INT};
use super::operators::Inert;
use crate::diff::{Pullback, Want, pull};
use crate::tensor::{Int, IntoAxes, Raw, Tensor};
use over::Over;

/// Declares methods that reduce floats over axes, and their companions. Other arguments stand before the axes or behind
/// them; `$f` gets them after the axes, and `$vjp` gives what takes the cotangent back.
macro_rules! reductions {
    ($($(#[$doc:meta])* $name:ident, $companion:ident ($($before:ident: $bt:ty)?; $($after:ident: $at:ty)?)
        -> $out:ty, $ct:ty, $f:expr, $vjp:expr, $keepdim:literal;)*) => {
        impl Tensor {
            $(
                $(#[$doc])*
                #[track_caller]
                pub fn $name(self, $($before: $bt,)? axes: impl IntoAxes $(, $after: $at)?) -> $out {
                    let over = Over::new(stringify!($name), self.raw.shape, axes.into_axes(), $keepdim);
                    $f(&self.raw, &over $(, $before)? $(, $after)?)
                }
                #[doc(hidden)]
                #[track_caller]
                pub fn $companion<A: IntoAxes>(
                    self,
                    $($before: $bt,)?
                    axes: A,
                    $($after: $at,)?
                    want: Want,
                ) -> (
                    $out,
                    impl Pullback<(), Ct = $ct, In = (Option<Tensor>, $(crate::ops::reduce::unit!($before),)? () $(, crate::ops::reduce::unit!($after))?)>
                    + use<A>,
                ) {
                    let over = Over::new(stringify!($name), self.raw.shape, axes.into_axes(), $keepdim);
                    let (y, back) = $vjp(self.raw, over, $($before,)? $($after,)? want);
                    let pullback = move |ct: $ct, (): &mut ()| {
                        (back.back(ct), $(crate::ops::reduce::unit!($before),)? () $(, crate::ops::reduce::unit!($after))?)
                    };
                    (y, pull(pullback))
                }
            )*
        }
    };
}
use reductions;

/// The cotangent of a plain argument.
macro_rules! unit {
    ($argument:ident) => {
        ()
    };
}
use unit;

/// Declares methods that reduce integers over axes, and their companions, which have nothing to give back.
macro_rules! integer_reductions {
    ($($(#[$doc:meta])* $name:ident, $companion:ident, $f:expr, $keepdim:literal;)*) => {
        impl Tensor<Int> {
            $(
                $(#[$doc])*
                #[track_caller]
                pub fn $name(self, axes: impl IntoAxes) -> Tensor<Int> {
                    let over = Over::new(stringify!($name), self.raw.shape, axes.into_axes(), $keepdim);
                    $f(&self.raw, &over)
                }
                #[doc(hidden)]
                #[track_caller]
                pub fn $companion(self, axes: impl IntoAxes, _: Want) -> (Tensor<Int>, Inert) {
                    (self.$name(axes), Inert)
                }
            )*
        }
    };
}
use integer_reductions;

/// The pullback of a sum or mean: the cotangent repeated.
struct Spread {
    wanted: bool,
    over: Over,
    /// What a mean multiplies by.
    factor: Option<f64>,
}

impl Spread {
    fn back(self, ct: Option<Tensor>) -> Option<Tensor> {
        let ct = ct.filter(|_| self.wanted)?.raw;
        let ct = match self.factor {
            Some(factor) => fold::scale(ct, factor),
            None => ct,
        };
        Some(Tensor::from_raw(self.over.spread(&ct)))
    }
}

#[track_caller]
fn sum(x: &Raw, over: &Over) -> Tensor {
    Tensor::from_raw(over.finish(fold::sum(x, over.mask, 1.0)))
}

#[track_caller]
fn sum_vjp(x: Raw, over: Over, want: Want) -> (Tensor, Spread) {
    (sum(&x, &over), Spread { wanted: want.has(0), over, factor: None })
}

#[track_caller]
fn mean(x: &Raw, over: &Over) -> Tensor {
    Tensor::from_raw(over.finish(fold::sum(x, over.mask, 1.0 / over.count() as f64)))
}

#[track_caller]
fn mean_vjp(x: Raw, over: Over, want: Want) -> (Tensor, Spread) {
    (mean(&x, &over), Spread { wanted: want.has(0), over, factor: Some(1.0 / over.count() as f64) })
}

#[track_caller]
fn sum_int(x: &Raw, over: &Over) -> Tensor<Int> {
    Tensor::from_raw(over.finish(SUM_INT.of(x, None, over.mask, 1.0, 0.0)))
}

reductions! {
    /// The sum over `axes`, which the result lacks: an integer, a list of integers, or `..` for all; negative counts
    /// from the end. The sum of no elements is 0.
    sum, sum__vjp(;) -> Tensor, Option<Tensor>, sum, sum_vjp, false;
    /// As [`sum`](Tensor::sum), the axes kept with an extent of 1.
    sum_keepdim, sum_keepdim__vjp(;) -> Tensor, Option<Tensor>, sum, sum_vjp, true;
    /// The mean over `axes`, as [`sum`](Tensor::sum) takes them. The mean of no elements is NaN.
    mean, mean__vjp(;) -> Tensor, Option<Tensor>, mean, mean_vjp, false;
    /// As [`mean`](Tensor::mean), the axes kept with an extent of 1.
    mean_keepdim, mean_keepdim__vjp(;) -> Tensor, Option<Tensor>, mean, mean_vjp, true;
}

integer_reductions! {
    /// The sum over `axes`, which the result lacks; as [`Tensor::sum`] takes them. It is of `i64`, whatever the dtype,
    /// and wraps.
    sum, sum__vjp, sum_int, false;
    /// As [`sum`](Tensor::sum), the axes kept with an extent of 1.
    sum_keepdim, sum_keepdim__vjp, sum_int, true;
}
