//! Softmax and its logarithm, along any axis.

#![allow(non_snake_case, reason = "companions are named `<operation>__vjp`")]

use crate::diff::{Pullback, Want, pull};
use crate::tensor::{Float, Tensor, axis_of};
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

/// How an axis becomes that of the rows, and back: the last one and it change places. A scalar is a row of its own.
#[derive(Clone, Copy)]
pub(super) enum Turn {
    Scalar,
    Swap(usize),
}

impl Turn {
    #[track_caller]
    pub(super) fn of(op: &str, x: &Tensor, axis: isize) -> Turn {
        match x.shape() {
            [] if axis == 0 || axis == -1 => Turn::Scalar,
            _ => Turn::Swap(axis_of(op, axis, &x.raw.shape)),
        }
    }

    pub(super) fn to_rows(self, x: Tensor) -> Tensor {
        match self {
            Turn::Scalar => x.unsqueeze(0),
            Turn::Swap(_) => self.back(x),
        }
    }

    pub(super) fn back(self, x: Tensor) -> Tensor {
        match self {
            Turn::Scalar => x.squeeze(0),
            Turn::Swap(axis) => {
                let last = x.rank() - 1;
                Tensor::from_raw(x.raw.swap_axes(axis, last))
            }
        }
    }

    /// The pullback of a function of rows as one along the axis.
    fn pullback<P>(self, of_rows: P) -> impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, ())>
    where
        P: Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>,)>,
    {
        pull(move |ct: Option<Tensor>, (): &mut ()| {
            let (dx,) = of_rows.pull(ct.map(|ct| self.to_rows(ct)), &mut ());
            (dx.map(|dx| self.back(dx)), ())
        })
    }
}

impl Tensor {
    /// `exp(x) / sum(exp(x))` along an axis, counted from the end where negative.
    #[track_caller]
    pub fn softmax(self, axis: isize) -> Tensor {
        let turn = Turn::of("softmax", &self, axis);
        turn.back(softmax(turn.to_rows(self)))
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn softmax__vjp(
        self,
        axis: isize,
        want: Want,
    ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, ())> + use<>) {
        let turn = Turn::of("softmax", &self, axis);
        let (y, of_rows) = softmax::vjp(turn.to_rows(self), want.of_function());
        (turn.back(y), turn.pullback(of_rows))
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
        let turn = Turn::of("log_softmax", &self, axis);
        turn.back(log_softmax(turn.to_rows(self)))
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn log_softmax__vjp(
        self,
        axis: isize,
        want: Want,
    ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, ())> + use<>) {
        let turn = Turn::of("log_softmax", &self, axis);
        let (y, of_rows) = log_softmax::vjp(turn.to_rows(self), want.of_function());
        (turn.back(y), turn.pullback(of_rows))
    }
}
