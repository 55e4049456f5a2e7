//! Dropout.

#![allow(non_snake_case, reason = "companions are named `<operation>__vjp`")]

use super::elementwise::unary;
use super::operand::Number;
use crate::cx::Cx;
use crate::diff::{Pullback, Want, pull};
use crate::raise::raise;
use crate::random::{Key, each_word};
use crate::tensor::Tensor;
use cotangent_hal::{Error, Scalar};

cotangent_hal::kernel! {
    /// `y = x scale` where the element's random word reaches the threshold, else 0.
    static DROPOUT = Pointwise "dropout" (x: Each F32; key, threshold, scale) -> (y: Each F32) |tile| {
        let (threshold, scale) = (threshold.i64() as u64, Real::from(scale));
        each_word(Key::of(key), tile.0, tile.1, |i, word| {
            y[i] = if u64::from(word) >= threshold { x[i] * scale } else { 0.0 };
        });
    }
}

impl Tensor {
    /// In training, each element is set to 0 with probability `p`, else scaled by `1 / (1 - p)`; in inference, or with
    /// `p = 0`, nothing happens. The pullback keeps a random key instead of a mask.
    ///
    /// Raises `Error::Argument` for a `p` outside of `0..=1`.
    #[track_caller]
    pub fn dropout(self, p: impl Number, cx: &mut Cx) -> Tensor {
        dropout(self, p.number(), cx, Want::NONE).0
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn dropout__vjp<N: Number>(
        self,
        p: N,
        cx: &mut Cx,
        want: Want,
    ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, (), ())> + use<N>) {
        let (y, mask) = dropout(self, p.number(), cx, want);
        (y, pull(move |ct, (): &mut ()| (mask.apply(ct), (), ())))
    }
}

/// The elements that a call left, given by the scalars of its launch.
enum Mask {
    Unwanted,
    All,
    Some([Scalar; 3]),
}

impl Mask {
    fn apply(self, ct: Option<Tensor>) -> Option<Tensor> {
        let ct = ct?;
        match self {
            Mask::Unwanted => None,
            Mask::All => Some(ct),
            Mask::Some(scalars) => Some(Tensor::from_raw(unary(&DROPOUT, ct.raw, &scalars))),
        }
    }
}

#[track_caller]
fn dropout(x: Tensor, p: Scalar, cx: &mut Cx, want: Want) -> (Tensor, Mask) {
    let p = match p {
        Scalar::Float(p) => p,
        Scalar::Int(p) => p as f64,
    };
    if !(0.0..=1.0).contains(&p) {
        let message = format!("the probability is {p}, expected 0 <= p <= 1");
        raise(Error::Argument { op: "dropout".into(), message });
    }
    let mask = |mask| if want.has(0) { mask } else { Mask::Unwanted };
    if !cx.training() || p == 0.0 {
        return (x, mask(Mask::All));
    }
    let threshold = (p * 4_294_967_296.0) as i64;
    let scale = if p == 1.0 { 0.0 } else { 1.0 / (1.0 - p) };
    let scalars = [cx.draw().scalar(), Scalar::Int(threshold), Scalar::Float(scale)];
    let y = unary(&DROPOUT, x.raw, &scalars);
    (Tensor::from_raw(y), mask(Mask::Some(scalars)))
}
