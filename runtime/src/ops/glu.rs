//! The gated linear unit.

#![allow(non_snake_case, reason = "companions are named `<operation>__vjp`")]

use crate::diff::{Pullback, Want};
use crate::raise::raise;
use crate::tensor::{Tensor, axis_of};
use cotangent_hal::Error;
use cotangent_macros::kernel;

/// A value let through as far as its gate says.
#[kernel]
fn gated(value: f32, gate: f32) -> f32 {
    value * sigmoid(gate)
}

impl Tensor {
    /// The first half along an axis times the logistic function of the second. Raises `Error::Shape` where its extent
    /// is odd.
    #[track_caller]
    pub fn glu(self, axis: isize) -> Tensor {
        let half = half(&self, axis);
        let (value, gate) = self.split(axis, [half, half]);
        value.zip_map(gate, gated)
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn glu__vjp(
        self,
        axis: isize,
        want: Want,
    ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, ())> + use<>) {
        let half = half(&self, axis);
        let ((value, gate), parts) = self.split__vjp(axis, [half, half], want);
        let (y, product) = value.zip_map__vjp(gate, gated, Want::of(&[want.has(0), want.has(0)]));
        let pull = crate::diff::pull(move |ct: Option<Tensor>, (): &mut ()| {
            let (value, gate, ()) = product.pull(ct, &mut ());
            (parts.pull((value, gate), &mut ()).0, ())
        });
        (y, pull)
    }
}

#[track_caller]
fn half(x: &Tensor, axis: isize) -> usize {
    let at = axis_of("glu", axis, &x.raw.shape);
    let extent = x.raw.shape[at];
    if extent % 2 != 0 {
        let message = format!("axis {at} of {:?} cannot be halved", x.shape());
        raise(Error::Shape { op: "glu".into(), message });
    }
    extent / 2
}
