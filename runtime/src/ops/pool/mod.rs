//! Pools: one number of each window that moves over the last axes.

#![allow(non_snake_case, reason = "companions are named `<operation>__vjp`")]
#![allow(clippy::type_complexity, reason = "the type of a companion names all of its cotangents")]
#![allow(clippy::too_many_arguments, reason = "the arguments are PyTorch's")]

mod avg;
mod axis;
mod max;
mod plan;

use super::sizes::Sizes;
use crate::diff::{Pullback, Want, pull};
use crate::raise::raise;
use crate::tensor::{Int, Raw, Tensor};
use avg::Divisor;
use cotangent_hal::Error;
use max::Found;
use plan::{Given, Pool};

/// Declares the pools over so many axes.
macro_rules! pools {
    ($axes:literal $shape:literal: $max:ident $max_vjp:ident $max_with:ident $max_with_vjp:ident $at:ident $at_vjp:ident
        $avg:ident $avg_vjp:ident $avg_with:ident $avg_with_vjp:ident $adapt:ident $adapt_vjp:ident
        $adapt_max:ident $adapt_max_vjp:ident $adapt_at:ident $adapt_at_vjp:ident) => {
        impl Tensor {
            /// The largest element of each window of `kernel`, windows side by side:
            #[doc = $shape]
            ///
            /// NaN where a window has one. The first of equal elements takes the cotangent. Raises `Error::Shape` where a
            /// window is longer than an axis, `Error::Argument` for one of 0.
            #[track_caller]
            pub fn $max(self, kernel: impl Sizes<$axes>) -> Tensor {
                let op = stringify!($max);
                Tensor::from_raw(max::values(&Given::side_by_side(op, kernel).of(op, &self.raw), &self.raw))
            }
            #[doc(hidden)]
            #[track_caller]
            pub fn $max_vjp<K: Sizes<$axes>>(
                self,
                kernel: K,
                want: Want,
            ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, ())> + use<K>) {
                let op = stringify!($max);
                let (y, back) = max_vjp(Given::side_by_side(op, kernel).of(op, &self.raw), &self.raw, want);
                (y, pull(move |ct, (): &mut ()| (back.pull(ct, &mut ()), ())))
            }

            #[doc = concat!("As [`", stringify!($max), "`](Self::", stringify!($max), "), of windows that begin every")]
            /// `stride`, reach `padding` places over each border and take every `dilation`-th place; with `ceil_mode` also
            /// of a last window that begins before the border and reaches behind it. Places over the border count as
            /// minus infinity.
            ///
            /// Raises `Error::Argument` too for a padding of more than half of the window.
            #[track_caller]
            pub fn $max_with(
                self,
                kernel: impl Sizes<$axes>,
                stride: impl Sizes<$axes>,
                padding: impl Sizes<$axes>,
                dilation: impl Sizes<$axes>,
                ceil_mode: bool,
            ) -> Tensor {
                let pool = windows(stringify!($max_with), &self.raw, kernel, stride, padding, dilation, ceil_mode);
                Tensor::from_raw(max::values(&pool, &self.raw))
            }
            #[doc(hidden)]
            #[track_caller]
            pub fn $max_with_vjp<K: Sizes<$axes>, S: Sizes<$axes>, P: Sizes<$axes>, D: Sizes<$axes>>(
                self,
                kernel: K,
                stride: S,
                padding: P,
                dilation: D,
                ceil_mode: bool,
                want: Want,
            ) -> (
                Tensor,
                impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, (), (), (), (), ())> + use<K, S, P, D>,
            ) {
                let pool = windows(stringify!($max_with), &self.raw, kernel, stride, padding, dilation, ceil_mode);
                let (y, back) = max_vjp(pool, &self.raw, want);
                (y, pull(move |ct, (): &mut ()| (back.pull(ct, &mut ()), (), (), (), (), ())))
            }

            #[doc = concat!("As [`", stringify!($max_with), "`](Self::", stringify!($max_with), "), with the place of each")]
            /// element, counted in row-major order over the axes that windows move along. Of several NaNs the last counts.
            #[track_caller]
            pub fn $at(
                self,
                kernel: impl Sizes<$axes>,
                stride: impl Sizes<$axes>,
                padding: impl Sizes<$axes>,
                dilation: impl Sizes<$axes>,
                ceil_mode: bool,
            ) -> (Tensor, Tensor<Int>) {
                let pool = windows(stringify!($at), &self.raw, kernel, stride, padding, dilation, ceil_mode);
                let (y, at) = max::values_and_places(&pool, &self.raw);
                (Tensor::from_raw(y), Tensor::from_raw(at))
            }
            #[doc(hidden)]
            #[track_caller]
            pub fn $at_vjp<K: Sizes<$axes>, S: Sizes<$axes>, P: Sizes<$axes>, D: Sizes<$axes>>(
                self,
                kernel: K,
                stride: S,
                padding: P,
                dilation: D,
                ceil_mode: bool,
                want: Want,
            ) -> (
                (Tensor, Tensor<Int>),
                impl Pullback<(), Ct = (Option<Tensor>, ()), In = (Option<Tensor>, (), (), (), (), ())>
                + use<K, S, P, D>,
            ) {
                let pool = windows(stringify!($at), &self.raw, kernel, stride, padding, dilation, ceil_mode);
                let (both, back) = max_places_vjp(pool, &self.raw, want);
                (both, pull(move |ct, (): &mut ()| (back.pull(ct, &mut ()), (), (), (), (), ())))
            }

            /// The mean of each window of `kernel`, windows side by side:
            #[doc = $shape]
            ///
            /// Raises `Error::Shape` where a window is longer than an axis, `Error::Argument` for one of 0.
            #[track_caller]
            pub fn $avg(self, kernel: impl Sizes<$axes>) -> Tensor {
                let op = stringify!($avg);
                let pool = Given::side_by_side(op, kernel).of(op, &self.raw);
                Tensor::from_raw(avg::values(&pool, &self.raw, Divisor::Elements))
            }
            #[doc(hidden)]
            #[track_caller]
            pub fn $avg_vjp<K: Sizes<$axes>>(
                self,
                kernel: K,
                want: Want,
            ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, ())> + use<K>) {
                let op = stringify!($avg);
                let pool = Given::side_by_side(op, kernel).of(op, &self.raw);
                let (y, back) = avg_vjp(pool, &self.raw, Divisor::Elements, want);
                (y, pull(move |ct, (): &mut ()| (back.pull(ct, &mut ()), ())))
            }

            #[doc = concat!("As [`", stringify!($avg), "`](Self::", stringify!($avg), "), of windows that begin every")]
            /// `stride` and reach over `padding` zeros at each border; with `ceil_mode` also of a last window that begins
            /// before the border and reaches behind it. The sum is divided by `divisor`, where it is given, else by the
            /// number of elements of the window, the zeros among them where `count_include_pad`.
            ///
            /// Raises `Error::Argument` too for a padding of more than half of the window, and for a divisor of 0.
            #[track_caller]
            pub fn $avg_with(
                self,
                kernel: impl Sizes<$axes>,
                stride: impl Sizes<$axes>,
                padding: impl Sizes<$axes>,
                ceil_mode: bool,
                count_include_pad: bool,
                divisor: Option<usize>,
            ) -> Tensor {
                let op = stringify!($avg_with);
                let pool = windows(op, &self.raw, kernel, stride, padding, 1, ceil_mode);
                Tensor::from_raw(avg::values(&pool, &self.raw, by(op, count_include_pad, divisor)))
            }
            #[doc(hidden)]
            #[track_caller]
            pub fn $avg_with_vjp<K: Sizes<$axes>, S: Sizes<$axes>, P: Sizes<$axes>>(
                self,
                kernel: K,
                stride: S,
                padding: P,
                ceil_mode: bool,
                count_include_pad: bool,
                divisor: Option<usize>,
                want: Want,
            ) -> (
                Tensor,
                impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, (), (), (), (), (), ())> + use<K, S, P>,
            ) {
                let op = stringify!($avg_with);
                let pool = windows(op, &self.raw, kernel, stride, padding, 1, ceil_mode);
                let (y, back) = avg_vjp(pool, &self.raw, by(op, count_include_pad, divisor), want);
                (y, pull(move |ct, (): &mut ()| (back.pull(ct, &mut ()), (), (), (), (), (), ())))
            }

            /// The means of as many windows as `size` says, which share out the axes: window `i` of `n` over `L` places
            /// begins at `floor(i L / n)` and ends before `ceil((i + 1) L / n)`.
            ///
            /// Raises `Error::Shape` where an axis is empty.
            #[track_caller]
            pub fn $adapt(self, size: impl Sizes<$axes>) -> Tensor {
                let pool = Pool::adaptive(stringify!($adapt), &self.raw, size);
                Tensor::from_raw(avg::values(&pool, &self.raw, Divisor::Elements))
            }
            #[doc(hidden)]
            #[track_caller]
            pub fn $adapt_vjp<S: Sizes<$axes>>(
                self,
                size: S,
                want: Want,
            ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, ())> + use<S>) {
                let pool = Pool::adaptive(stringify!($adapt), &self.raw, size);
                let (y, back) = avg_vjp(pool, &self.raw, Divisor::Elements, want);
                (y, pull(move |ct, (): &mut ()| (back.pull(ct, &mut ()), ())))
            }

            #[doc = concat!("The largest elements of the windows of [`", stringify!($adapt), "`](Self::", stringify!($adapt), ").")]
            #[track_caller]
            pub fn $adapt_max(self, size: impl Sizes<$axes>) -> Tensor {
                Tensor::from_raw(max::values(&Pool::adaptive(stringify!($adapt_max), &self.raw, size), &self.raw))
            }
            #[doc(hidden)]
            #[track_caller]
            pub fn $adapt_max_vjp<S: Sizes<$axes>>(
                self,
                size: S,
                want: Want,
            ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, ())> + use<S>) {
                let pool = Pool::adaptive(stringify!($adapt_max), &self.raw, size);
                let (y, back) = max_vjp(pool, &self.raw, want);
                (y, pull(move |ct, (): &mut ()| (back.pull(ct, &mut ()), ())))
            }

            #[doc = concat!("As [`", stringify!($adapt_max), "`](Self::", stringify!($adapt_max), "), with the place of each")]
            /// element, counted in row-major order over the axes that windows move along.
            #[track_caller]
            pub fn $adapt_at(self, size: impl Sizes<$axes>) -> (Tensor, Tensor<Int>) {
                let pool = Pool::adaptive(stringify!($adapt_at), &self.raw, size);
                let (y, at) = max::values_and_places(&pool, &self.raw);
                (Tensor::from_raw(y), Tensor::from_raw(at))
            }
            #[doc(hidden)]
            #[track_caller]
            pub fn $adapt_at_vjp<S: Sizes<$axes>>(
                self,
                size: S,
                want: Want,
            ) -> (
                (Tensor, Tensor<Int>),
                impl Pullback<(), Ct = (Option<Tensor>, ()), In = (Option<Tensor>, ())> + use<S>,
            ) {
                let pool = Pool::adaptive(stringify!($adapt_at), &self.raw, size);
                let (both, back) = max_places_vjp(pool, &self.raw, want);
                (both, pull(move |ct, (): &mut ()| (back.pull(ct, &mut ()), ())))
            }
        }
    };
}

pools! {
    2 "`[.., H, W] -> [.., floor(H / KH), floor(W / KW)]`.":
    max_pool2d max_pool2d__vjp max_pool2d_with max_pool2d_with__vjp max_pool2d_with_indices max_pool2d_with_indices__vjp
    avg_pool2d avg_pool2d__vjp avg_pool2d_with avg_pool2d_with__vjp adaptive_avg_pool2d adaptive_avg_pool2d__vjp
    adaptive_max_pool2d adaptive_max_pool2d__vjp adaptive_max_pool2d_with_indices adaptive_max_pool2d_with_indices__vjp
}
pools! {
    1 "`[.., L] -> [.., floor(L / K)]`.":
    max_pool1d max_pool1d__vjp max_pool1d_with max_pool1d_with__vjp max_pool1d_with_indices max_pool1d_with_indices__vjp
    avg_pool1d avg_pool1d__vjp avg_pool1d_with avg_pool1d_with__vjp adaptive_avg_pool1d adaptive_avg_pool1d__vjp
    adaptive_max_pool1d adaptive_max_pool1d__vjp adaptive_max_pool1d_with_indices adaptive_max_pool1d_with_indices__vjp
}

/// The pool by windows that are all given.
#[track_caller]
fn windows<const N: usize>(
    op: &str,
    x: &Raw,
    kernel: impl Sizes<N>,
    stride: impl Sizes<N>,
    padding: impl Sizes<N>,
    dilation: impl Sizes<N>,
    ceil: bool,
) -> Pool {
    let (kernel, stride) = (kernel.sizes(op, "kernel"), stride.sizes(op, "stride"));
    let (padding, dilation) = (padding.sizes(op, "padding"), dilation.sizes(op, "dilation"));
    Given { kernel, stride, padding, dilation, ceil }.of(op, x)
}

#[track_caller]
fn by(op: &str, count_include_pad: bool, divisor: Option<usize>) -> Divisor {
    match divisor {
        Some(0) => {
            let message = "the divisor is 0, expected at least 1".into();
            raise(Error::Argument { op: op.into(), message })
        }
        Some(n) => Divisor::Number(n),
        None if count_include_pad => Divisor::Places,
        None => Divisor::Elements,
    }
}

#[track_caller]
fn max_vjp(
    pool: Pool,
    x: &Raw,
    want: Want,
) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = Option<Tensor>> + use<>) {
    let (y, found) = if want.has(0) {
        let (y, found) = max::values_found(&pool, x);
        (y, Some(found))
    } else {
        (max::values(&pool, x), None)
    };
    (Tensor::from_raw(y), pull(move |ct, (): &mut ()| back(found, ct)))
}

#[track_caller]
fn max_places_vjp(
    pool: Pool,
    x: &Raw,
    want: Want,
) -> ((Tensor, Tensor<Int>), impl Pullback<(), Ct = (Option<Tensor>, ()), In = Option<Tensor>> + use<>) {
    let (y, at) = max::values_and_places(&pool, x);
    let found = want.has(0).then(|| Found::at_places(&pool, &at));
    let pullback = pull(move |(ct, ()), (): &mut ()| back(found, ct));
    ((Tensor::from_raw(y), Tensor::from_raw(at)), pullback)
}

#[track_caller]
fn back(found: Option<Found>, ct: Option<Tensor>) -> Option<Tensor> {
    found.zip(ct).map(|(found, ct)| Tensor::from_raw(found.pull(ct.raw)))
}

#[track_caller]
fn avg_vjp(
    pool: Pool,
    x: &Raw,
    divisor: Divisor,
    want: Want,
) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = Option<Tensor>> + use<>) {
    let y = Tensor::from_raw(avg::values(&pool, x, divisor));
    let pullback = move |ct: Option<Tensor>, (): &mut ()| {
        let ct = ct.filter(|_| want.has(0))?;
        Some(Tensor::from_raw(avg::pull(&pool, ct.raw, divisor)))
    };
    (y, pull(pullback))
}
