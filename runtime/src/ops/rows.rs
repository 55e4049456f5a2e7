//! Softmax and its logarithm, along any axis.

#![allow(non_snake_case, reason = "companions are named `<operation>__vjp`")]

use super::turn::Turn;
use crate::diff::{Pullback, Want, pull};
use crate::tensor::{Float, Tensor};
use cotangent_macros::kernel;

/// `exp(x) / sum(exp(x))` of each row.
#[kernel]
fn softmax(x: Tensor![R.., C]) -> Tensor![R.., C] {
    |r, i| {
        let m = max(|j| x[r][j]);
        exp(x[r][i] - m) / sum(|j| exp(x[r][j] - m))
    }
}

/// `x - log(sum(exp(x)))` of each row.
#[kernel]
fn log_softmax(x: Tensor![R.., C]) -> Tensor![R.., C] {
    |r, i| {
        let m = max(|j| x[r][j]);
        (x[r][i] - m) - log(sum(|j| exp(x[r][j] - m)))
    }
}

impl Tensor {
    /// `exp(x) / sum(exp(x))` along an axis, counted from the end where negative.
    #[track_caller]
    pub fn softmax(self, axis: isize) -> Tensor {
        let turn = Turn::of("softmax", self.shape(), axis);
        turn.tensor(softmax(turn.rows(self)))
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn softmax__vjp(
        self,
        axis: isize,
        want: Want,
    ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, ())> + use<>) {
        let turn = Turn::of("softmax", self.shape(), axis);
        let (y, of_rows) = softmax::vjp(turn.rows(self), want.of_function());
        (turn.tensor(y), turn.pullback(of_rows))
    }

    /// The [`softmax`](Tensor::softmax) of the negated elements along an axis: the smallest gets the most.
    #[track_caller]
    pub fn softmin(self, axis: isize) -> Tensor {
        self.neg().softmax(axis)
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn softmin__vjp(
        self,
        axis: isize,
        want: Want,
    ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, ())> + use<>) {
        let (y, pullback) = self.neg().softmax__vjp(axis, want);
        let pullback = pull(move |ct, (): &mut ()| {
            let (dx, ()) = pullback.pull(ct, &mut ());
            (dx.map(Tensor::<Float>::neg), ())
        });
        (y, pullback)
    }

    /// The logarithm of the [`softmax`](Tensor::softmax) along an axis, without its loss of digits.
    #[track_caller]
    pub fn log_softmax(self, axis: isize) -> Tensor {
        let turn = Turn::of("log_softmax", self.shape(), axis);
        turn.tensor(log_softmax(turn.rows(self)))
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn log_softmax__vjp(
        self,
        axis: isize,
        want: Want,
    ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, ())> + use<>) {
        let turn = Turn::of("log_softmax", self.shape(), axis);
        let (y, of_rows) = log_softmax::vjp(turn.rows(self), want.of_function());
        (turn.tensor(y), turn.pullback(of_rows))
    }
}
