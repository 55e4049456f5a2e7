//! Running extremes along an axis, with their places.

use super::along;
use crate::diff::{Pullback, Want, pull};
use crate::ops::lines::put;
use crate::ops::turn::Turn;
use crate::tensor::{Int, Raw, Tensor};
use cotangent_hal::{DType, Kernel};

/// Declares kernels of running extremes: whether `$x` takes the place of `$best`.
macro_rules! running {
    ($($NAME:ident $name:literal $t:ident, |$x:ident, $best:ident| $takes:expr;)*) => { $(
        cotangent_hal::kernel! {
            static $NAME = Rows $name (x: Each $t) -> (y: Each $t, at: Each I64) |tile| {
                let (mut $best, mut place) = (x[0], 0);
                for i in 0..tile.1 {
                    let $x = x[i];
                    if $takes {
                        ($best, place) = ($x, i as i64);
                    }
                    y[i] = $best;
                    at[i] = place;
                }
            }
        }
    )* };
}

running! {
    CUMMAX "cummax" F32, |x, best| x >= best || x.is_nan();
    CUMMIN "cummin" F32, |x, best| x <= best || x.is_nan();
    CUMMAX_INT "cummax" I64, |x, best| x >= best;
    CUMMIN_INT "cummin" I64, |x, best| x <= best;
}

/// Extremes and places.
#[track_caller]
fn found(turn: Turn, kernel: &'static Kernel, x: &Raw) -> (Raw, Raw) {
    let mut outs = along(turn, kernel, &[x], &[x.dtype, DType::I64]);
    let at = outs.remove(1);
    (outs.remove(0), at)
}

/// Declares running extremes of floats and of integers.
macro_rules! extremes {
    ($($(#[$doc:meta])* $name:ident, $companion:ident, $floats:ident, $ints:ident;)*) => {
        impl Tensor {
            $(
                $(#[$doc])*
                #[track_caller]
                pub fn $name(self, axis: isize) -> (Tensor, Tensor<Int>) {
                    let turn = Turn::of(stringify!($name), self.shape(), axis);
                    let (y, at) = found(turn, &$floats, &self.raw);
                    (Tensor::from_raw(y), Tensor::from_raw(at))
                }
                #[doc(hidden)]
                #[track_caller]
                pub fn $companion(
                    self,
                    axis: isize,
                    want: Want,
                ) -> (
                    (Tensor, Tensor<Int>),
                    impl Pullback<(), Ct = (Option<Tensor>, ()), In = (Option<Tensor>, ())> + use<>,
                ) {
                    let turn = Turn::of(stringify!($name), self.shape(), axis);
                    let (y, at) = found(turn, &$floats, &self.raw);
                    let saved = want.has(0).then(|| at.clone().keep());
                    let pullback = move |(ct, ()): (Option<Tensor>, ()), (): &mut ()| {
                        (ct.zip(saved).map(|(ct, at)| Tensor::from_raw(put(turn, ct.raw, &at, turn.extent(&at)))), ())
                    };
                    ((Tensor::from_raw(y), Tensor::from_raw(at)), pull(pullback))
                }
            )*
        }
        impl Tensor<Int> {
            $(
                $(#[$doc])*
                #[track_caller]
                pub fn $name(self, axis: isize) -> (Tensor<Int>, Tensor<Int>) {
                    let turn = Turn::of(stringify!($name), self.shape(), axis);
                    let (y, at) = found(turn, &$ints, &self.raw);
                    (Tensor::from_raw(y), Tensor::from_raw(at))
                }
            )*
        }
    };
}

extremes! {
    /// The running maximum along an axis: each element becomes the largest of all up to it; and the place of that, of
    /// equal ones the last, which gets the cotangent. From the first NaN on it is NaN.
    cummax, cummax__vjp, CUMMAX, CUMMAX_INT;
    /// The running minimum along an axis: each element becomes the smallest of all up to it; and the place of that, of
    /// equal ones the last, which gets the cotangent. From the first NaN on it is NaN.
    cummin, cummin__vjp, CUMMIN, CUMMIN_INT;
}
