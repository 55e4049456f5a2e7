//! Running extremes along an axis, with their places.

use super::blocks::Blocked;
use crate::diff::Want;
use crate::ops::fold::BLOCK;
use crate::ops::lines::Placed;
use crate::ops::turn::Turn;
use crate::tensor::{Float, Int, Raw, Tensor};
use cotangent_hal::DType;

/// Declares running extremes: the start, and whether `$x` takes the place of `$best`. The state of a block is its extreme
/// and the place of that.
macro_rules! running {
    ($($NAME:ident $name:literal $t:ident, $rows:ident $totals:ident $starts:ident $from:ident,
        $start:expr, |$x:ident, $best:ident| $takes:expr;)*) => { $(
        cotangent_hal::kernel! {
            static $rows = Rows $name (x: Each $t) -> (y: Each $t, at: Each I64) |tile| {
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
        cotangent_hal::kernel! {
            static $totals = Rows $name (x: Each $t) -> (y: PerRow $t, at: PerRow I64) |tile| {
                let (mut $best, mut place) = (x[0], 0);
                for i in 0..tile.1 {
                    let $x = x[i];
                    if $takes {
                        ($best, place) = ($x, i as i64);
                    }
                }
                y[0] = $best;
                at[0] = place;
            }
        }
        cotangent_hal::kernel! {
            static $starts = Rows $name (x: Each $t, p: Each I64; block) -> (y: Each $t, at: Each I64) |tile| {
                let (mut $best, mut place) = ($start, 0);
                for i in 0..tile.1 {
                    y[i] = $best;
                    at[i] = place;
                    let $x = x[i];
                    if $takes {
                        ($best, place) = ($x, p[i] + i as i64 * block.i64());
                    }
                }
            }
        }
        cotangent_hal::kernel! {
            static $from = Rows $name
                (x: Each $t, b: PerRow $t, p: PerRow I64; blocks, first) -> (y: Each $t, at: Each I64) |tile| {
                let start = first.i64() + (tile.0 as i64 % blocks.i64()) * BLOCK as i64;
                let (mut $best, mut place) = (b[0], p[0]);
                for i in 0..tile.1 {
                    let $x = x[i];
                    if $takes {
                        ($best, place) = ($x, start + i as i64);
                    }
                    y[i] = $best;
                    at[i] = place;
                }
            }
        }
        static $NAME: Blocked = Blocked { rows: &$rows, totals: &$totals, starts: &$starts, from: &$from };
    )* };
}

running! {
    CUMMAX "cummax" F32, MAX_ROWS MAX_TOTALS MAX_STARTS MAX_FROM, Real::NEG_INFINITY, |x, best| x >= best || x.is_nan();
    CUMMIN "cummin" F32, MIN_ROWS MIN_TOTALS MIN_STARTS MIN_FROM, Real::INFINITY, |x, best| x <= best || x.is_nan();
    CUMMAX_INT "cummax" I64, MAX_INT_ROWS MAX_INT_TOTALS MAX_INT_STARTS MAX_INT_FROM, i64::MIN, |x, best| x >= best;
    CUMMIN_INT "cummin" I64, MIN_INT_ROWS MIN_INT_TOTALS MIN_INT_STARTS MIN_INT_FROM, i64::MAX, |x, best| x <= best;
}

/// Extremes and places.
#[track_caller]
fn found(turn: Turn, how: &Blocked, x: &Raw) -> (Raw, Raw) {
    let dtypes = [x.dtype, DType::I64];
    let mut outs = how.along(turn, x, false, &dtypes, &dtypes);
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
