//! The losses that take logits or predictions and give one number.

#![allow(non_snake_case, reason = "companions are named `<operation>__vjp`")]

use super::indices;
use super::loss::Total;
use crate::diff::{Pullback, Want, pull};
use crate::raise::raise;
use crate::tensor::{Int, Tensor};
use cotangent_hal::Error;
use cotangent_macros::kernel;

/// The target of rows that do not count: PyTorch's `ignore_index`.
const IGNORED: i64 = -100;

/// `-log softmax(row)[target]` of each row, 0 where the target is [`IGNORED`].
#[kernel(unrounded)]
fn losses(x: Tensor![R.., C], target: Tensor![Int; R..]) -> Tensor![R..] {
    |r| {
        let m = max(|j| x[r][j]);
        let rest = log(sum(|j| exp(x[r][j] - m)));
        if target[r] == -100 { 0.0 } else { (m - or_zero(x[r][target[r]])) + rest }
    }
}

impl Tensor {
    /// The mean over all rows of `-log softmax(row)[target]`: `[.., C], [..] -> []`, the classes along the last axis.
    ///
    /// A row whose target is -100 is ignored: it has no loss and no gradient, and the mean is that of the other rows;
    /// NaN where there are none, as in PyTorch.
    ///
    /// Raises `Error::Shape` where the shapes do not fit, `Error::Argument` where a target is neither in `0..C` nor -100.
    #[track_caller]
    pub fn cross_entropy(self, targets: Tensor<Int>) -> Tensor {
        let (dtype, mean) = (self.dtype(), 1.0 / count(&self, &targets) as f64);
        Total::of(&losses(self, targets), mean, dtype).0
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn cross_entropy__vjp(
        self,
        targets: Tensor<Int>,
        want: Want,
    ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, ())> + use<>) {
        let (dtype, mean) = (self.dtype(), 1.0 / count(&self, &targets) as f64);
        let (parts, of_parts) = losses::vjp(self, targets, want.of_function());
        let (y, total) = Total::of(&parts, mean, dtype);
        (y, pull(move |ct: Option<Tensor>, (): &mut ()| of_parts.pull(ct.map(|ct| total.pull(ct)), &mut ())))
    }
}

/// The number of rows that are not ignored, of logits and targets that fit.
#[track_caller]
fn count(x: &Tensor, targets: &Tensor<Int>) -> usize {
    let Some((&classes, _)) = x.shape().split_last().filter(|(_, rows)| *rows == targets.shape()) else {
        let message = format!(
            "logits {:?} and targets {:?}: expected logits [.., C] and targets of the same leading axes",
            x.shape(),
            targets.shape()
        );
        raise(Error::Shape { op: "cross_entropy".into(), message })
    };
    x.raw.same_device("cross_entropy", &targets.raw);
    indices::count_but("cross_entropy", &targets.raw, classes, IGNORED, "target", "the number of classes C")
}
