//! Reductions that ask for zeros and for NaN.

use super::{Over, reductions};
use crate::diff::{Pullback, Want, pull};
use crate::ops::arith::div;
use crate::ops::elementwise::{binary, broadcasting};
use crate::ops::fold::{ALL, ANY, COUNT, Fold, NANSUM, NUMBERS};
use crate::tensor::{Bool, Int, IntoAxes, Kind, Raw, Tensor};
use cotangent_hal::DType;

cotangent_hal::kernel! {
    /// The cotangent where `x` is a number.
    static WHERE_NUMBER = Pointwise "nansum" (x: Each F32, ct: Each F32) -> (dx: Each F32) |tile| {
        for i in 0..tile.1 {
            dx[i] = ct[i] * if x[i].is_nan() { 0.0 } else { 1.0 };
        }
    }
}

/// A fold of truth values: whether elements are not 0.
fn of_truth<K: Kind>(how: &'static Fold, x: Tensor<K>, over: &Over) -> Raw {
    over.finish(how.of(&x.raw.cast(DType::Bool), None, over.mask, 1.0, 0.0))
}

/// Declares methods of tensors of any kind.
macro_rules! of_truths {
    ($($(#[$doc:meta])* $name:ident, $how:ident -> $kind:ty, $keepdim:literal;)*) => {
        impl<K: Kind> Tensor<K> {
            $(
                $(#[$doc])*
                #[track_caller]
                pub fn $name(self, axes: impl IntoAxes) -> Tensor<$kind> {
                    let over = Over::new(stringify!($name), self.raw.shape, axes.into_axes(), $keepdim);
                    Tensor::from_raw(of_truth(&$how, self, &over))
                }
            )*
        }
    };
}

of_truths! {
    /// Whether an element over `axes`, as [`sum`](Tensor::sum) takes them, is true or not 0; NaN is not 0. False for no
    /// elements.
    any, ANY -> Bool, false;
    /// As [`any`](Tensor::any), the axes kept with an extent of 1.
    any_keepdim, ANY -> Bool, true;
    /// Whether all elements over `axes`, as [`sum`](Tensor::sum) takes them, are true or not 0; NaN is not 0. True for no
    /// elements.
    all, ALL -> Bool, false;
    /// As [`all`](Tensor::all), the axes kept with an extent of 1.
    all_keepdim, ALL -> Bool, true;
    /// How many elements over `axes`, as [`sum`](Tensor::sum) takes them, are true or not 0; NaN is not 0.
    count_nonzero, COUNT -> Int, false;
}

/// The sum of numbers and how many there are, without the axes, in the dtype that is computed in.
fn numbers(x: &Raw, over: &Over, mean: bool) -> (Raw, Option<Raw>) {
    let sum = NANSUM.of(x, None, over.mask, 1.0, 0.0);
    (sum, mean.then(|| NUMBERS.of(x, None, over.mask, 1.0, 0.0)))
}

fn result(x: &Raw, over: &Over, sum: Raw, count: Option<&Raw>) -> Tensor {
    let y = match count {
        Some(count) => binary(div::FLOATS.forward, sum, count.clone(), &[]),
        None => sum,
    };
    Tensor::from_raw(over.finish(y.cast(x.dtype)))
}

/// The pullback of a sum or mean of numbers.
struct Numbers {
    over: Over,
    /// The operand, and what a mean divides by.
    saved: Option<(Raw, Option<Raw>)>,
}

impl Numbers {
    fn back(self, ct: Option<Tensor>) -> Option<Tensor> {
        let (ct, (x, count)) = (ct?, self.saved?);
        let ct = self.over.dropped(&ct.raw);
        let ct = match count {
            Some(count) => binary(div::FLOATS.forward, ct.cast(count.dtype), count, &[]),
            None => ct,
        };
        let ins = [&x, &self.over.repeat(&ct)];
        Some(Tensor::from_raw(broadcasting(&WHERE_NUMBER, &ins, x.dtype, &[])))
    }
}

/// `$f` and `$vjp` of the sum, or of the mean.
macro_rules! numbers {
    ($($f:ident $vjp:ident, $mean:literal;)*) => { $(
        #[track_caller]
        fn $f(x: &Raw, over: &Over) -> Tensor {
            let (sum, count) = numbers(x, over, $mean);
            result(x, over, sum, count.as_ref())
        }

        #[track_caller]
        fn $vjp(x: Raw, over: Over, want: Want) -> (Tensor, Numbers) {
            let (sum, count) = numbers(&x, &over, $mean);
            let y = result(&x, &over, sum, count.as_ref());
            let saved = want.has(0).then(|| (x.keep(), count.map(Raw::keep)));
            (y, Numbers { over, saved })
        }
    )* };
}
numbers! {
    nansum nansum_vjp, false;
    nanmean nanmean_vjp, true;
}

reductions! {
    /// The [`sum`](Tensor::sum) of the elements that are not NaN; the others get no cotangent.
    nansum, nansum__vjp(;) -> Tensor, Option<Tensor>, nansum, nansum_vjp, false;
    /// As [`nansum`](Tensor::nansum), the axes kept with an extent of 1.
    nansum_keepdim, nansum_keepdim__vjp(;) -> Tensor, Option<Tensor>, nansum, nansum_vjp, true;
    /// The [`mean`](Tensor::mean) of the elements that are not NaN, NaN where there is none; the others get no cotangent.
    nanmean, nanmean__vjp(;) -> Tensor, Option<Tensor>, nanmean, nanmean_vjp, false;
    /// As [`nanmean`](Tensor::nanmean), the axes kept with an extent of 1.
    nanmean_keepdim, nanmean_keepdim__vjp(;) -> Tensor, Option<Tensor>, nanmean, nanmean_vjp, true;
}
