//! Variance and standard deviation: the mean is subtracted before squares are added.

use super::{Over, reductions};
use crate::diff::{Pullback, Want, pull};
use crate::ops::elementwise::{binary, broadcasting, unary};
use crate::ops::fold::{self, SQUARES_ABOUT, SUM};
use crate::ops::pointwise::sqrt;
use crate::tensor::{IntoAxes, Raw, Tensor};

cotangent_hal::kernel! {
    static DEVIATIONS = Pointwise "var" (x: Each F32, mean: Each F32, ct: Each F32; k) -> (dx: Each F32) |tile| {
        let k = Real::from(k);
        for i in 0..tile.1 {
            dx[i] = k * ct[i] * (x[i] - mean[i]);
        }
    }
}

cotangent_hal::kernel! {
    /// The cotangent of a variance from that of its square root; 0 where that is 0.
    static ROOT = Pointwise "std" (ct: Each F32, y: Each F32) -> (out: Each F32) |tile| {
        for i in 0..tile.1 {
            out[i] = if y[i] == 0.0 { 0.0 } else { ct[i] / (2.0 * y[i]) };
        }
    }
}

/// One over the number of elements less the correction, infinite where nothing is left.
fn scale(over: &Over, correction: f64) -> f64 {
    1.0 / (over.count() as f64 - correction).max(0.0)
}

/// Mean and variance without the axes, in the dtype that is computed in.
fn moments(x: &Raw, over: &Over, correction: f64) -> (Raw, Raw) {
    let mean = SUM.of(x, None, over.mask, 1.0 / over.count() as f64, 0.0);
    let var = SQUARES_ABOUT.of(x, Some(&mean), over.mask, scale(over, correction), 0.0);
    (mean, var)
}

fn root(x: Raw) -> Raw {
    unary(sqrt::FUNCTION.forward, x, &[])
}

/// A result of `x` from one in the dtype that is computed in.
fn result(x: &Raw, over: &Over, y: Raw) -> Tensor {
    Tensor::from_raw(over.finish(y.cast(x.dtype)))
}

/// The pullback of a variance or its root, and of the mean.
struct Deviations {
    over: Over,
    correction: f64,
    /// Operand and mean.
    saved: Option<(Raw, Raw)>,
    /// The standard deviation where that is the result.
    std: Option<Raw>,
}

impl Deviations {
    fn of(self, ct: Option<Tensor>, of_mean: Option<Tensor>) -> Option<Tensor> {
        let (x, mean) = self.saved?;
        let over = &self.over;
        let by_var = ct.map(|ct| {
            let ct = over.dropped(&ct.raw);
            let ct = match self.std {
                Some(std) => binary(&ROOT, ct.cast(std.dtype), std, &[]),
                None => ct,
            };
            let k = cotangent_hal::Scalar::Float(2.0 * scale(over, self.correction));
            let ins = [&x, &over.repeat(&mean), &over.repeat(&ct)];
            Tensor::from_raw(broadcasting(&DEVIATIONS, &ins, x.dtype, &[k]))
        });
        let by_mean = of_mean.map(|ct| {
            let ct = fold::scale(ct.raw, 1.0 / over.count() as f64);
            Tensor::from_raw(over.spread(&ct))
        });
        match (by_var, by_mean) {
            (Some(a), Some(b)) => Some(crate::ops::add_ct(a, b)),
            (a, b) => a.or(b),
        }
    }

    fn back(self, ct: Option<Tensor>) -> Option<Tensor> {
        self.of(ct, None)
    }
}

/// The pullback of a pair with the mean.
struct WithMean(Deviations);

impl WithMean {
    fn back(self, (ct, of_mean): (Option<Tensor>, Option<Tensor>)) -> Option<Tensor> {
        self.0.of(ct, of_mean)
    }
}

/// `$f` and `$vjp` of the variance, or of its root, with a correction and with that of 1.
macro_rules! moments {
    ($($f:ident $vjp:ident $f_1:ident $vjp_1:ident $pair:ident $pair_vjp:ident $pair_1:ident $pair_vjp_1:ident,
        $root:literal;)*) => { $(
        #[track_caller]
        fn $f(x: &Raw, over: &Over, correction: f64) -> Tensor {
            $pair(x, over, correction).0
        }

        #[track_caller]
        fn $f_1(x: &Raw, over: &Over) -> Tensor {
            $f(x, over, 1.0)
        }

        #[track_caller]
        fn $vjp(x: Raw, over: Over, correction: f64, want: Want) -> (Tensor, Deviations) {
            let ((y, _), WithMean(back)) = $pair_vjp(x, over, correction, want);
            (y, back)
        }

        #[track_caller]
        fn $vjp_1(x: Raw, over: Over, want: Want) -> (Tensor, Deviations) {
            $vjp(x, over, 1.0, want)
        }

        #[track_caller]
        fn $pair(x: &Raw, over: &Over, correction: f64) -> (Tensor, Tensor) {
            let (mean, var) = moments(x, over, correction);
            (result(x, over, if $root { root(var) } else { var }), result(x, over, mean))
        }

        #[track_caller]
        fn $pair_1(x: &Raw, over: &Over) -> (Tensor, Tensor) {
            $pair(x, over, 1.0)
        }

        #[track_caller]
        fn $pair_vjp(x: Raw, over: Over, correction: f64, want: Want) -> ((Tensor, Tensor), WithMean) {
            let (mean, var) = moments(&x, &over, correction);
            let y = if $root { root(var) } else { var };
            let parts = (result(&x, &over, y.clone()), result(&x, &over, mean.clone()));
            let std = (want.has(0) && $root).then(|| y.keep());
            let saved = want.has(0).then(|| (x.keep(), mean.keep()));
            (parts, WithMean(Deviations { over, correction, saved, std }))
        }

        #[track_caller]
        fn $pair_vjp_1(x: Raw, over: Over, want: Want) -> ((Tensor, Tensor), WithMean) {
            $pair_vjp(x, over, 1.0, want)
        }
    )* };
}

moments! {
    var var_vjp var_1 var_1_vjp var_mean var_mean_vjp var_mean_1 var_mean_1_vjp, false;
    std std_vjp std_1 std_1_vjp std_mean std_mean_vjp std_mean_1 std_mean_1_vjp, true;
}

reductions! {
    /// The variance over `axes`, as [`sum`](Tensor::sum) takes them: squared distances from the mean, added up and divided
    /// by their number less 1. NaN for fewer than two elements.
    var, var__vjp(;) -> Tensor, Option<Tensor>, var_1, var_1_vjp, false;
    /// As [`var`](Tensor::var), the axes kept with an extent of 1.
    var_keepdim, var_keepdim__vjp(;) -> Tensor, Option<Tensor>, var_1, var_1_vjp, true;
    /// As [`var`](Tensor::var), the divisor being the number of elements less `correction`, at least 0.
    var_with, var_with__vjp(; correction: f64) -> Tensor, Option<Tensor>, var, var_vjp, false;
    /// As [`var_with`](Tensor::var_with), the axes kept with an extent of 1.
    var_with_keepdim, var_with_keepdim__vjp(; correction: f64) -> Tensor, Option<Tensor>, var, var_vjp, true;
    /// The standard deviation over `axes`: the square root of the variance [`var`](Tensor::var). Slope 0 where it is 0.
    std, std__vjp(;) -> Tensor, Option<Tensor>, std_1, std_1_vjp, false;
    /// As [`std`](Tensor::std), the axes kept with an extent of 1.
    std_keepdim, std_keepdim__vjp(;) -> Tensor, Option<Tensor>, std_1, std_1_vjp, true;
    /// As [`std`](Tensor::std), the divisor being the number of elements less `correction`, at least 0.
    std_with, std_with__vjp(; correction: f64) -> Tensor, Option<Tensor>, std, std_vjp, false;
    /// As [`std_with`](Tensor::std_with), the axes kept with an extent of 1.
    std_with_keepdim, std_with_keepdim__vjp(; correction: f64) -> Tensor, Option<Tensor>, std, std_vjp, true;
    /// Variance and mean over `axes`: [`var`](Tensor::var) and [`mean`](Tensor::mean).
    var_mean, var_mean__vjp(;) -> (Tensor, Tensor), (Option<Tensor>, Option<Tensor>), var_mean_1, var_mean_1_vjp, false;
    /// As [`var_mean`](Tensor::var_mean), the axes kept with an extent of 1.
    var_mean_keepdim, var_mean_keepdim__vjp(;) -> (Tensor, Tensor), (Option<Tensor>, Option<Tensor>),
        var_mean_1, var_mean_1_vjp, true;
    /// As [`var_mean`](Tensor::var_mean), the divisor being the number of elements less `correction`, at least 0.
    var_mean_with, var_mean_with__vjp(; correction: f64) -> (Tensor, Tensor), (Option<Tensor>, Option<Tensor>),
        var_mean, var_mean_vjp, false;
    /// As [`var_mean_with`](Tensor::var_mean_with), the axes kept with an extent of 1.
    var_mean_with_keepdim, var_mean_with_keepdim__vjp(; correction: f64) -> (Tensor, Tensor),
        (Option<Tensor>, Option<Tensor>), var_mean, var_mean_vjp, true;
    /// Standard deviation and mean over `axes`: [`std`](Tensor::std) and [`mean`](Tensor::mean).
    std_mean, std_mean__vjp(;) -> (Tensor, Tensor), (Option<Tensor>, Option<Tensor>), std_mean_1, std_mean_1_vjp, false;
    /// As [`std_mean`](Tensor::std_mean), the axes kept with an extent of 1.
    std_mean_keepdim, std_mean_keepdim__vjp(;) -> (Tensor, Tensor), (Option<Tensor>, Option<Tensor>),
        std_mean_1, std_mean_1_vjp, true;
    /// As [`std_mean`](Tensor::std_mean), the divisor being the number of elements less `correction`, at least 0.
    std_mean_with, std_mean_with__vjp(; correction: f64) -> (Tensor, Tensor), (Option<Tensor>, Option<Tensor>),
        std_mean, std_mean_vjp, false;
    /// As [`std_mean_with`](Tensor::std_mean_with), the axes kept with an extent of 1.
    std_mean_with_keepdim, std_mean_with_keepdim__vjp(; correction: f64) -> (Tensor, Tensor),
        (Option<Tensor>, Option<Tensor>), std_mean, std_mean_vjp, true;
}
