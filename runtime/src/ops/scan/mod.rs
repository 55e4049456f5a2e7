//! Running reductions along an axis: each element becomes the fold of all up to it.
//!
//! Sums and products of floats are formed in `f64` and rounded once an element. A few long rows are cut into blocks
//! (`blocks`); for products and logarithms of floats, whose state has no room in `f32`, they are not.

#![allow(non_snake_case, reason = "companions are named `<operation>__vjp`")]

mod blocks;
mod extremes;
mod log;
mod sum;

use super::operators::Inert;
use super::turn::Turn;
use crate::diff::{Pullback, Want, pull};
use crate::tensor::{Int, Raw, Tensor, launch};
use cotangent_hal::{Arg, DType, Kernel, Scalar};

cotangent_hal::kernel! {
    static CUMPROD = Rows "cumprod" (x: Each F32) -> (y: Each F32) |tile| {
        let mut product = 1.0;
        for i in 0..tile.1 {
            product *= f64::from(x[i]);
            y[i] = product as Real;
        }
    }
}

cotangent_hal::kernel! {
    /// Element `k` gets the sum over `j >= k` of `ct[j]` times the product up to `j` without element `k`. Up to the first
    /// zero that is the sum of `ct[j] y[j]` over `x[k]`; behind it nothing is left.
    static CUMPROD_SLOPE = Rows "cumprod" (x: Each F32, y: Each F32, ct: Each F32) -> (dx: Each F32) |tile| {
        let zero = x.iter().position(|&v| v == 0.0).unwrap_or(tile.1);
        let mut sum = 0.0;
        for i in (0..tile.1).rev() {
            sum += f64::from(ct[i]) * f64::from(y[i]);
            dx[i] = if i < zero { (sum / f64::from(x[i])) as Real } else { 0.0 };
        }
        if zero < tile.1 {
            let mut product = if zero > 0 { f64::from(y[zero - 1]) } else { 1.0 };
            let mut sum = product * f64::from(ct[zero]);
            for i in zero + 1..tile.1 {
                product *= f64::from(x[i]);
                sum += product * f64::from(ct[i]);
            }
            dx[zero] = sum as Real;
        }
    }
}

/// Runs a kernel over the rows of tensors of one shape, as they are seen through `turn`, into one of that dtype.
#[track_caller]
fn along_to(turn: Turn, kernel: &'static Kernel, ins: &[&Raw], dtype: DType) -> Raw {
    let ins: Vec<Raw> = ins.iter().map(|&x| turn.to_rows(x.clone())).collect();
    let out = turn.empty(&ins[0], dtype, &ins[0].shape);
    if out.numel() > 0 {
        launch_over(kernel, &ins, std::slice::from_ref(&out), &[]);
    }
    turn.back(out)
}

/// Runs a kernel over the shape of its first input.
#[track_caller]
fn launch_over(kernel: &'static Kernel, ins: &[Raw], outs: &[Raw], numbers: &[usize]) {
    let args = ins.iter().map(|x| Arg::In(x.view())).chain(outs.iter().map(|y| Arg::Out(y.view())));
    let args = args.chain(numbers.iter().map(|&n| Arg::Scalar(Scalar::Int(n as i64))));
    launch(&ins[0].device, kernel, &ins[0].shape, &args.collect::<Vec<_>>());
}

impl Tensor {
    /// The running sum along an axis: each element becomes the sum of all up to it.
    #[track_caller]
    pub fn cumsum(self, axis: isize) -> Tensor {
        let turn = Turn::of("cumsum", self.shape(), axis);
        Tensor::from_raw(sum::cumsum(turn, &self.raw, false))
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn cumsum__vjp(
        self,
        axis: isize,
        want: Want,
    ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, ())> + use<>) {
        let turn = Turn::of("cumsum", self.shape(), axis);
        let y = Tensor::from_raw(sum::cumsum(turn, &self.raw, false));
        let pullback = move |ct: Option<Tensor>, (): &mut ()| {
            let ct = ct.filter(|_| want.has(0));
            (ct.map(|ct| Tensor::from_raw(sum::cumsum(turn, &ct.raw, true))), ())
        };
        (y, pull(pullback))
    }

    /// The running product along an axis: each element becomes the product of all up to it. The cotangent is right also
    /// where some elements are 0.
    #[track_caller]
    pub fn cumprod(self, axis: isize) -> Tensor {
        let turn = Turn::of("cumprod", self.shape(), axis);
        Tensor::from_raw(along_to(turn, &CUMPROD, &[&self.raw], self.dtype()))
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn cumprod__vjp(
        self,
        axis: isize,
        want: Want,
    ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, ())> + use<>) {
        let turn = Turn::of("cumprod", self.shape(), axis);
        let (dtype, x) = (self.dtype(), self.raw);
        // Kept before it is rounded.
        let y = along_to(turn, &CUMPROD, &[&x], dtype.compute());
        let result = Tensor::from_raw(y.clone().cast(dtype));
        let saved = want.has(0).then(|| (x.keep(), y.keep()));
        let pullback = move |ct: Option<Tensor>, (): &mut ()| {
            let dx = ct.zip(saved).map(|(ct, (x, y))| along_to(turn, &CUMPROD_SLOPE, &[&x, &y, &ct.raw], dtype));
            (dx.map(Tensor::from_raw), ())
        };
        (result, pull(pullback))
    }
}

/// Declares running reductions of integers and their companions, which have nothing to give back.
macro_rules! of_integers {
    ($($(#[$doc:meta])* $name:ident, $companion:ident, $f:expr;)*) => {
        impl Tensor<Int> {
            $(
                $(#[$doc])*
                #[track_caller]
                pub fn $name(self, axis: isize) -> Tensor<Int> {
                    let turn = Turn::of(stringify!($name), self.shape(), axis);
                    Tensor::from_raw($f(turn, &self.raw))
                }
                #[doc(hidden)]
                #[track_caller]
                pub fn $companion(self, axis: isize, _: Want) -> (Tensor<Int>, Inert) {
                    (self.$name(axis), Inert)
                }
            )*
        }
    };
}

of_integers! {
    /// The running sum along an axis, of `i64`, whatever the dtype; it wraps.
    cumsum, cumsum__vjp, sum::cumsum_int;
    /// The running product along an axis, of `i64`, whatever the dtype; it wraps.
    cumprod, cumprod__vjp, sum::cumprod_int;
}
