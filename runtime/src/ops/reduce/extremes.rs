//! Extremes over axes, and where they are.

use super::{Inert, Over, integer_reductions, reductions};
use crate::diff::{Pullback, Want, pull};
use crate::ops::fold::{self, Fold, MAX, MAX_INT, MIN, MIN_INT, Search};
use crate::ops::fold::{LARGEST, LARGEST_INT, SMALLEST, SMALLEST_INT};
use crate::ops::lines::Placed;
use crate::ops::turn::Turn;
use crate::tensor::{Float, Int, IntoAxes, Raw, Tensor};
use cotangent_macros::kernel;

/// The cotangent of the extreme `y` of each row, spread evenly over the elements that equal it; NaN where it is NaN.
#[kernel]
fn shares(x: Tensor![R.., C], y: Tensor![R..], ct: Tensor![R..]) -> Tensor![R.., C] {
    |r, i| {
        let part = ct[r] / sum(|j| if x[r][j] == y[r] { 1.0 } else { 0.0 });
        if x[r][i] == y[r] { part } else { 0.0 * part }
    }
}

/// The pullback of an extreme.
struct Extremes {
    over: Over,
    /// The operand, and the result without the axes.
    saved: Option<(Raw, Raw)>,
}

impl Extremes {
    fn back(self, ct: Option<Tensor>) -> Option<Tensor> {
        let (ct, (x, y)) = (ct?, self.saved?);
        let rows = Tensor::from_raw(fold::to_rows(&x, self.over.mask));
        let dx = shares(rows, Tensor::from_raw(y), Tensor::from_raw(self.over.dropped(&ct.raw)));
        Some(Tensor::from_raw(fold::from_rows(dx.raw, self.over.mask, &self.over.shape)))
    }
}

#[track_caller]
fn extreme(op: &str, how: &'static Fold, x: &Raw, over: &Over) -> Raw {
    over.not_empty(op);
    how.of(x, None, over.mask, 1.0, 0.0).cast(x.dtype)
}

#[track_caller]
fn extreme_vjp(op: &str, how: &'static Fold, x: Raw, over: Over, want: Want) -> (Tensor, Extremes) {
    let y = extreme(op, how, &x, &over);
    let saved = want.has(0).then(|| (x.keep(), y.clone().keep()));
    (Tensor::from_raw(over.finish(y)), Extremes { over, saved })
}

#[track_caller]
fn amax(x: &Raw, over: &Over) -> Tensor {
    Tensor::from_raw(over.finish(extreme("amax", &MAX, x, over)))
}

#[track_caller]
fn amax_vjp(x: Raw, over: Over, want: Want) -> (Tensor, Extremes) {
    extreme_vjp("amax", &MAX, x, over, want)
}

#[track_caller]
fn amin(x: &Raw, over: &Over) -> Tensor {
    Tensor::from_raw(over.finish(extreme("amin", &MIN, x, over)))
}

#[track_caller]
fn amin_vjp(x: Raw, over: Over, want: Want) -> (Tensor, Extremes) {
    extreme_vjp("amin", &MIN, x, over, want)
}

#[track_caller]
fn aminmax(x: &Raw, over: &Over) -> (Tensor, Tensor) {
    (amin(x, over), amax(x, over))
}

/// The pullback of both extremes.
struct Both(Extremes, Extremes);

impl Both {
    fn back(self, (low, high): (Option<Tensor>, Option<Tensor>)) -> Option<Tensor> {
        match (self.0.back(low), self.1.back(high)) {
            (Some(a), Some(b)) => Some(crate::ops::add_ct(a, b)),
            (a, b) => a.or(b),
        }
    }
}

#[track_caller]
fn aminmax_vjp(x: Raw, over: Over, want: Want) -> ((Tensor, Tensor), Both) {
    let (low, back_low) = amin_vjp(x.clone(), over, want);
    let (high, back_high) = amax_vjp(x, over, want);
    ((low, high), Both(back_low, back_high))
}

reductions! {
    /// The largest element over `axes`, as [`sum`](Tensor::sum) takes them; NaN where there is one. Equal maxima share
    /// the cotangent evenly. Raises `Error::Shape` for an empty axis.
    amax, amax__vjp(;) -> Tensor, Option<Tensor>, amax, amax_vjp, false;
    /// As [`amax`](Tensor::amax), the axes kept with an extent of 1.
    amax_keepdim, amax_keepdim__vjp(;) -> Tensor, Option<Tensor>, amax, amax_vjp, true;
    /// The smallest element over `axes`, as [`sum`](Tensor::sum) takes them; NaN where there is one. Equal minima share
    /// the cotangent evenly. Raises `Error::Shape` for an empty axis.
    amin, amin__vjp(;) -> Tensor, Option<Tensor>, amin, amin_vjp, false;
    /// As [`amin`](Tensor::amin), the axes kept with an extent of 1.
    amin_keepdim, amin_keepdim__vjp(;) -> Tensor, Option<Tensor>, amin, amin_vjp, true;
    /// The smallest and the largest element over `axes`: [`amin`](Tensor::amin) and [`amax`](Tensor::amax).
    aminmax, aminmax__vjp(;) -> (Tensor, Tensor), (Option<Tensor>, Option<Tensor>), aminmax, aminmax_vjp, false;
    /// As [`aminmax`](Tensor::aminmax), the axes kept with an extent of 1.
    aminmax_keepdim, aminmax_keepdim__vjp(;) -> (Tensor, Tensor), (Option<Tensor>, Option<Tensor>),
        aminmax, aminmax_vjp, true;
}

#[track_caller]
fn amax_int(x: &Raw, over: &Over) -> Tensor<Int> {
    Tensor::from_raw(over.finish(extreme("amax", &MAX_INT, x, over)))
}

#[track_caller]
fn amin_int(x: &Raw, over: &Over) -> Tensor<Int> {
    Tensor::from_raw(over.finish(extreme("amin", &MIN_INT, x, over)))
}

integer_reductions! {
    /// The largest integer over `axes`, as [`Tensor::sum`] takes them. Raises `Error::Shape` for an empty axis.
    amax, amax__vjp, amax_int, false;
    /// As [`amax`](Tensor::amax), the axes kept with an extent of 1.
    amax_keepdim, amax_keepdim__vjp, amax_int, true;
    /// The smallest integer over `axes`, as [`Tensor::sum`] takes them. Raises `Error::Shape` for an empty axis.
    amin, amin__vjp, amin_int, false;
    /// As [`amin`](Tensor::amin), the axes kept with an extent of 1.
    amin_keepdim, amin_keepdim__vjp, amin_int, true;
}

/// Declares searches of one kind of tensors over axes.
macro_rules! places {
    ($kind:ty: $($(#[$doc:meta])* $name:ident, $search:ident;)*) => {
        impl Tensor<$kind> {
            $(
                $(#[$doc])*
                #[track_caller]
                pub fn $name(self, axes: impl IntoAxes) -> Tensor<Int> {
                    let over = Over::new(stringify!($name), self.raw.shape, axes.into_axes(), false);
                    over.not_empty(stringify!($name));
                    Tensor::from_raw($search.of(&self.raw, over.mask).1)
                }
            )*
        }
    };
}

places! {
    Float:
    /// The position of the first maximum along an axis, which the result lacks; a NaN counts as the maximum. Over
    /// several axes, or `..` for all, positions are counted in row-major order over them. Raises `Error::Shape` for an
    /// empty axis.
    argmax, LARGEST;
    /// The position of the first minimum along an axis, which the result lacks, as [`argmax`](Tensor::argmax); a NaN
    /// counts as the minimum.
    argmin, SMALLEST;
}

places! {
    Int:
    /// The position of the first maximum along an axis, which the result lacks. Over several axes, or `..` for all,
    /// positions are counted in row-major order over them. Raises `Error::Shape` for an empty axis.
    argmax, LARGEST_INT;
    /// The position of the first minimum along an axis, as [`argmax`](Tensor::argmax).
    argmin, SMALLEST_INT;
}

/// The extremes along one axis and their places. A scalar has an axis of its own.
#[track_caller]
fn found(op: &str, search: &Search, x: &Raw, axis: isize, keepdim: bool) -> (Turn, Raw, Raw) {
    let turn = Turn::of(op, &x.shape, axis);
    let mask = match turn {
        Turn::Scalar => 0,
        Turn::Swap(axis) => 1 << axis,
    };
    let over = Over { shape: x.shape, mask, keepdim };
    over.not_empty(op);
    let (y, at) = search.of(x, mask);
    (turn, over.finish(y), over.finish(at))
}

/// Declares extremes along one axis with their places, of one kind of tensors.
macro_rules! extremes {
    ($kind:ty: $($(#[$doc:meta])* $name:ident, $companion:ident, $search:ident, $keepdim:literal;)*) => {
        impl Tensor<$kind> {
            $(
                $(#[$doc])*
                #[track_caller]
                pub fn $name(self, axis: isize) -> (Tensor<$kind>, Tensor<Int>) {
                    let (_, y, at) = found(stringify!($name), &$search, &self.raw, axis, $keepdim);
                    (Tensor::from_raw(y), Tensor::from_raw(at))
                }
                #[doc(hidden)]
                #[track_caller]
                pub fn $companion(self, axis: isize, want: Want) -> ((Tensor<$kind>, Tensor<Int>), Placed<$kind, 1>) {
                    let (turn, y, at) = found(stringify!($name), &$search, &self.raw, axis, $keepdim);
                    let placed = Placed::new(turn, turn.extent(&self.raw), &at, want);
                    let placed = if $keepdim { placed } else { placed.dropped() };
                    ((Tensor::from_raw(y), Tensor::from_raw(at)), placed)
                }
            )*
        }
    };
}

extremes! {
    Float:
    /// The largest element along an axis, which the result lacks, and its position there: of equal ones the first, which
    /// gets the whole cotangent. A NaN counts as the maximum. Raises `Error::Shape` for an empty axis.
    max_dim, max_dim__vjp, LARGEST, false;
    /// As [`max_dim`](Tensor::max_dim), the axis kept with an extent of 1.
    max_dim_keepdim, max_dim_keepdim__vjp, LARGEST, true;
    /// The smallest element along an axis, which the result lacks, and its position there: of equal ones the first, which
    /// gets the whole cotangent. A NaN counts as the minimum. Raises `Error::Shape` for an empty axis.
    min_dim, min_dim__vjp, SMALLEST, false;
    /// As [`min_dim`](Tensor::min_dim), the axis kept with an extent of 1.
    min_dim_keepdim, min_dim_keepdim__vjp, SMALLEST, true;
}

extremes! {
    Int:
    /// The largest integer along an axis, which the result lacks, and its position there, of equal ones the first. Raises
    /// `Error::Shape` for an empty axis.
    max_dim, max_dim__vjp, LARGEST_INT, false;
    /// As [`max_dim`](Tensor::max_dim), the axis kept with an extent of 1.
    max_dim_keepdim, max_dim_keepdim__vjp, LARGEST_INT, true;
    /// The smallest integer along an axis, which the result lacks, and its position there, of equal ones the first. Raises
    /// `Error::Shape` for an empty axis.
    min_dim, min_dim__vjp, SMALLEST_INT, false;
    /// As [`min_dim`](Tensor::min_dim), the axis kept with an extent of 1.
    min_dim_keepdim, min_dim_keepdim__vjp, SMALLEST_INT, true;
}
