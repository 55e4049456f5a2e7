//! Running extremes along an axis, with their places.

use super::along;
use crate::diff::Want;
use crate::ops::lines::Placed;
use crate::ops::turn::Turn;
use crate::tensor::{Float, Int, Raw, Tensor};
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

/// Declares running extremes of one kind of tensors.
macro_rules! extremes {
    ($kind:ty: $($(#[$doc:meta])* $name:ident, $companion:ident, $kernel:ident;)*) => {
        impl Tensor<$kind> {
            $(
                $(#[$doc])*
                #[track_caller]
                pub fn $name(self, axis: isize) -> (Tensor<$kind>, Tensor<Int>) {
                    let turn = Turn::of(stringify!($name), self.shape(), axis);
                    let (y, at) = found(turn, &$kernel, &self.raw);
                    (Tensor::from_raw(y), Tensor::from_raw(at))
                }
                #[doc(hidden)]
                #[track_caller]
                pub fn $companion(self, axis: isize, want: Want) -> ((Tensor<$kind>, Tensor<Int>), Placed<$kind, 1>) {
                    let turn = Turn::of(stringify!($name), self.shape(), axis);
                    let (y, at) = found(turn, &$kernel, &self.raw);
                    let placed = Placed::new(turn, turn.extent(&self.raw), &at, want);
                    ((Tensor::from_raw(y), Tensor::from_raw(at)), placed)
                }
            )*
        }
    };
}

extremes! {
    Float:
    /// The running maximum along an axis: each element becomes the largest of all up to it; and the place of that, of
    /// equal ones the last, which gets the cotangent. From the first NaN on it is NaN.
    cummax, cummax__vjp, CUMMAX;
    /// The running minimum along an axis: each element becomes the smallest of all up to it; and the place of that, of
    /// equal ones the last, which gets the cotangent. From the first NaN on it is NaN.
    cummin, cummin__vjp, CUMMIN;
}

extremes! {
    Int:
    /// The running maximum along an axis: each integer becomes the largest of all up to it; and the place of that, of
    /// equal ones the last.
    cummax, cummax__vjp, CUMMAX_INT;
    /// The running minimum along an axis: each integer becomes the smallest of all up to it; and the place of that, of
    /// equal ones the last.
    cummin, cummin__vjp, CUMMIN_INT;
}
