//! Sums, means and maxima over axes, and the position of a maximum.

#![allow(non_snake_case, reason = "companions are named `<operation>__vjp`")]

use super::fold;
use super::operators::Inert;
use crate::diff::{Pullback, Want};
use crate::raise::raise;
use crate::tensor::{Axes, Dims, Int, IntoAxes, Raw, Strides, Tensor, launch};
use cotangent_hal::{Arg, DType, Error};
use cotangent_macros::kernel;

/// The cotangent of the maximum `y` of each row, spread evenly over the elements that equal it; NaN where it is NaN.
#[kernel]
fn shares(x: Tensor![R.., C], y: Tensor![R..], ct: Tensor![R..]) -> Tensor![R.., C] {
    |r, i| {
        let part = ct[r] / sum(|j| if x[r][j] == y[r] { 1.0 } else { 0.0 });
        if x[r][i] == y[r] { part } else { 0.0 * part }
    }
}

cotangent_hal::kernel! {
    static SUM_INT = Rows "sum" (x: Each I64) -> (y: PerRow I64) |tile| {
        y[0] = x.iter().fold(0, |sum: i64, &v| sum.wrapping_add(v));
    }
}

/// Over which axes a reduction goes.
#[derive(Clone, Copy)]
struct Over {
    /// The operand's shape.
    shape: Dims,
    /// Bit `i` for axis `i`.
    mask: u8,
    keepdim: bool,
}

impl Over {
    #[track_caller]
    fn new(op: &str, shape: Dims, axes: Axes, keepdim: bool) -> Over {
        let mask = axes.resolve(op, &shape).iter().fold(0, |mask, &axis| mask | 1 << axis);
        Over { shape, mask, keepdim }
    }

    fn has(&self, axis: usize) -> bool {
        self.mask >> axis & 1 == 1
    }

    /// The number of elements that make one of the result.
    fn count(&self) -> usize {
        (0..self.shape.len()).filter(|&i| self.has(i)).map(|i| self.shape[i]).product()
    }

    /// A result without the axes, with them as extents of 1 where they are to be kept.
    fn finish(&self, y: Raw) -> Raw {
        if !self.keepdim {
            return y;
        }
        let mut kept = self.shape;
        for axis in 0..kept.len() {
            if self.has(axis) {
                kept[axis] = 1;
            }
        }
        y.reinterpret(&kept)
    }

    /// A view of a cotangent of the result without the axes that were kept as extents of 1.
    fn dropped(&self, ct: &Raw) -> Raw {
        if !self.keepdim {
            return ct.clone();
        }
        let (mut shape, mut strides) = (Dims::new(), Strides::new());
        for axis in (0..self.shape.len()).filter(|&axis| !self.has(axis)) {
            shape.push("sum", ct.shape[axis]);
            strides.push("sum", ct.strides[axis]);
        }
        Raw { shape, strides, ..ct.clone() }
    }

    /// A cotangent of the result repeated along the axes: a view of the operand's shape.
    fn spread(&self, ct: &Raw) -> Raw {
        let ct = self.dropped(ct);
        let mut strides = Strides::repeat("sum", 0, self.shape.len());
        let kept = (0..self.shape.len()).filter(|&axis| !self.has(axis));
        for (axis, &stride) in kept.zip(&*ct.strides) {
            strides[axis] = stride;
        }
        Raw { shape: self.shape, strides, ..ct }
    }
}

/// The pullback of a sum or mean: the cotangent repeated.
struct Spread {
    wanted: bool,
    over: Over,
    /// What a mean multiplies by.
    factor: Option<f64>,
}

impl Pullback<()> for Spread {
    type Ct = Option<Tensor>;
    type In = (Option<Tensor>, ());
    fn pull(self, ct: Option<Tensor>, (): &mut ()) -> Self::In {
        let dx = ct.filter(|_| self.wanted).map(|ct| {
            let ct = match self.factor {
                Some(factor) => fold::scale(ct.raw, factor),
                None => ct.raw,
            };
            Tensor::from_raw(self.over.spread(&ct))
        });
        (dx, ())
    }
}

/// The pullback of a maximum.
struct Maxima {
    over: Over,
    /// The operand, and the result without the axes.
    saved: Option<(Raw, Raw)>,
}

impl Pullback<()> for Maxima {
    type Ct = Option<Tensor>;
    type In = (Option<Tensor>, ());
    fn pull(self, ct: Option<Tensor>, (): &mut ()) -> Self::In {
        let (Some(ct), Some((x, y))) = (ct, self.saved) else { return (None, ()) };
        (Some(Tensor::from_raw(amax_backward(&self.over, &x, &y, &ct.raw))), ())
    }
}

fn amax_backward(over: &Over, x: &Raw, y: &Raw, ct: &Raw) -> Raw {
    let rows = fold::to_rows(x, over.mask);
    let dx = shares(Tensor::from_raw(rows), Tensor::from_raw(y.clone()), Tensor::from_raw(over.dropped(ct)));
    fold::from_rows(dx.raw, over.mask, &over.shape)
}

#[track_caller]
fn sum(x: Tensor, over: &Over) -> Tensor {
    Tensor::from_raw(over.finish(fold::sum(&x.raw, over.mask, 1.0)))
}

#[track_caller]
fn sum_vjp(x: Tensor, over: Over, want: Want) -> (Tensor, Spread) {
    (sum(x, &over), Spread { wanted: want.has(0), over, factor: None })
}

#[track_caller]
fn mean(x: Tensor, over: &Over) -> Tensor {
    Tensor::from_raw(over.finish(fold::sum(&x.raw, over.mask, 1.0 / over.count() as f64)))
}

#[track_caller]
fn mean_vjp(x: Tensor, over: Over, want: Want) -> (Tensor, Spread) {
    (mean(x, &over), Spread { wanted: want.has(0), over, factor: Some(1.0 / over.count() as f64) })
}

#[track_caller]
fn not_empty(op: &str, over: &Over) {
    if let Some(axis) = (0..over.shape.len()).find(|&axis| over.has(axis) && over.shape[axis] == 0) {
        let message = format!("axis {axis} of {:?} is empty, and no elements have no maximum", over.shape);
        raise(Error::Shape { op: op.into(), message });
    }
}

#[track_caller]
fn amax(x: Tensor, over: &Over) -> Tensor {
    not_empty("amax", over);
    Tensor::from_raw(over.finish(fold::max(&x.raw, over.mask)))
}

#[track_caller]
fn amax_vjp(x: Tensor, over: Over, want: Want) -> (Tensor, Maxima) {
    not_empty("amax", &over);
    let y = fold::max(&x.raw, over.mask);
    let saved = want.has(0).then(|| (x.raw.keep(), y.clone().keep()));
    (Tensor::from_raw(over.finish(y)), Maxima { over, saved })
}

/// Declares reductions and their companions.
macro_rules! reductions {
    ($($(#[$doc:meta])* $name:ident, $companion:ident, $text:literal, $f:ident, $vjp:ident, $keepdim:literal;)*) => {
        impl Tensor {
            $(
                $(#[$doc])*
                #[track_caller]
                pub fn $name(self, axes: impl IntoAxes) -> Tensor {
                    let over = Over::new($text, self.raw.shape, axes.into_axes(), $keepdim);
                    $f(self, &over)
                }
                #[doc(hidden)]
                #[track_caller]
                pub fn $companion<A: IntoAxes>(
                    self,
                    axes: A,
                    want: Want,
                ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, ())> + use<A>) {
                    let over = Over::new($text, self.raw.shape, axes.into_axes(), $keepdim);
                    $vjp(self, over, want)
                }
            )*
        }
    };
}

reductions! {
    /// The sum over `axes`, which the result lacks: an integer, a list of integers, or `..` for all; negative counts
    /// from the end. The sum of no elements is 0.
    sum, sum__vjp, "sum", sum, sum_vjp, false;
    /// As [`sum`](Tensor::sum), the axes kept with an extent of 1.
    sum_keepdim, sum_keepdim__vjp, "sum_keepdim", sum, sum_vjp, true;
    /// The mean over `axes`, as [`sum`](Tensor::sum) takes them. The mean of no elements is NaN.
    mean, mean__vjp, "mean", mean, mean_vjp, false;
    /// As [`mean`](Tensor::mean), the axes kept with an extent of 1.
    mean_keepdim, mean_keepdim__vjp, "mean_keepdim", mean, mean_vjp, true;
    /// The largest element over `axes`, as [`sum`](Tensor::sum) takes them; NaN where there is one. Equal maxima share
    /// the cotangent evenly. Raises `Error::Shape` for an empty axis.
    amax, amax__vjp, "amax", amax, amax_vjp, false;
    /// As [`amax`](Tensor::amax), the axes kept with an extent of 1.
    amax_keepdim, amax_keepdim__vjp, "amax_keepdim", amax, amax_vjp, true;
}

impl Tensor {
    /// The position of the first maximum along an axis, which the result lacks; a NaN counts as the maximum. Over
    /// several axes, or `..` for all, positions are counted in row-major order over them. Raises `Error::Shape` for an
    /// empty axis.
    #[track_caller]
    pub fn argmax(self, axes: impl IntoAxes) -> Tensor<Int> {
        argmax(self, axes.into_axes())
    }
}

#[track_caller]
fn argmax(x: Tensor, axes: Axes) -> Tensor<Int> {
    let over = Over::new("argmax", x.raw.shape, axes, false);
    not_empty("argmax", &over);
    Tensor::from_raw(fold::argmax(&x.raw, over.mask))
}

impl Tensor<Int> {
    /// The sum over `axes`, which the result lacks; as [`Tensor::sum`] takes them. It is of `i64`, whatever the dtype,
    /// and wraps.
    #[track_caller]
    pub fn sum(self, axes: impl IntoAxes) -> Tensor<Int> {
        let over = Over::new("sum", self.raw.shape, axes.into_axes(), false);
        sum_int(&self.raw, &over)
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn sum__vjp(self, axes: impl IntoAxes, _: Want) -> (Tensor<Int>, Inert) {
        (self.sum(axes), Inert)
    }

    /// As [`sum`](Tensor::sum), the axes kept with an extent of 1.
    #[track_caller]
    pub fn sum_keepdim(self, axes: impl IntoAxes) -> Tensor<Int> {
        let over = Over::new("sum_keepdim", self.raw.shape, axes.into_axes(), true);
        sum_int(&self.raw, &over)
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn sum_keepdim__vjp(self, axes: impl IntoAxes, _: Want) -> (Tensor<Int>, Inert) {
        (self.sum_keepdim(axes), Inert)
    }
}

#[track_caller]
fn sum_int(x: &Raw, over: &Over) -> Tensor<Int> {
    let rows = fold::to_rows(x, over.mask);
    let kept = &rows.shape[..rows.shape.len() - 1];
    let out = Raw::empty(&x.device, DType::I64, kept);
    if !kept.contains(&0) {
        launch(&x.device, &SUM_INT, &rows.shape, &[Arg::In(rows.view()), Arg::Out(out.view())]);
    }
    Tensor::from_raw(over.finish(out))
}
