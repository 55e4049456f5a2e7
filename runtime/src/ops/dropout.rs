//! Dropout.

#![allow(non_snake_case, reason = "companions are named `<operation>__vjp`")]

use super::operand::Number;
use crate::cx::Cx;
use crate::diff::{Pullback, Want, pull};
use crate::raise::raise;
use crate::random::Key;
use crate::tensor::Tensor;
use cotangent_hal::Error;
use cotangent_macros::kernel;

/// `x scale` where the element's random word reaches the threshold, else 0: linear, so that the gradient is the same of
/// the cotangent.
#[kernel]
fn dropout(x: Tensor![N..], key: Key, threshold: i64, scale: f64) -> Tensor![N..] {
    |i| if random_bits(key, i) >= threshold { x[i] * scale } else { 0.0 }
}

impl Tensor {
    /// In training, each element is set to 0 with probability `p`, else scaled by `1 / (1 - p)`; in inference, or with
    /// `p = 0`, nothing happens. The pullback keeps a random key instead of a mask.
    ///
    /// Raises `Error::Argument` for a `p` outside of `0..=1`.
    #[track_caller]
    pub fn dropout(self, p: impl Number, cx: &mut Cx) -> Tensor {
        Mask::draw(p.number().f64(), cx).apply(self)
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn dropout__vjp<N: Number>(
        self,
        p: N,
        cx: &mut Cx,
        want: Want,
    ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, (), ())> + use<N>) {
        let mask = Mask::draw(p.number().f64(), cx);
        let pullback =
            move |ct: Option<Tensor>, (): &mut ()| (ct.filter(|_| want.has(0)).map(|ct| mask.apply(ct)), (), ());
        (mask.apply(self), pull(pullback))
    }
}

/// The elements that a call leaves.
#[derive(Clone, Copy)]
enum Mask {
    All,
    Some { key: Key, threshold: i64, scale: f64 },
}

impl Mask {
    #[track_caller]
    fn draw(p: f64, cx: &mut Cx) -> Mask {
        if !(0.0..=1.0).contains(&p) {
            let message = format!("the probability is {p}, expected 0 <= p <= 1");
            raise(Error::Argument { op: "dropout".into(), message });
        }
        if !cx.training() || p == 0.0 {
            return Mask::All;
        }
        let scale = if p == 1.0 { 0.0 } else { 1.0 / (1.0 - p) };
        Mask::Some { key: cx.draw(), threshold: (p * 4_294_967_296.0) as i64, scale }
    }

    fn apply(self, x: Tensor) -> Tensor {
        match self {
            Mask::All => x,
            Mask::Some { key, threshold, scale } => dropout(x, key, threshold, scale),
        }
    }
}
