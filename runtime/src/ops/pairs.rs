//! Functions of two, three or four floats, each a tensor or a number, with broadcasting.

#![allow(non_snake_case, reason = "companions are named `<operation>__vjp`")]

use super::operand::Operand;
use crate::diff::{Pullback, Want};
use crate::kernel::{FusedPullback, Pointwise, elements, elements_vjp};
use crate::raise::raise;
use crate::tensor::{Bool, Dims, Float, Raw, Tensor};
use cotangent_hal::Error;

/// What the methods of these names compute for each element.
mod formulas {
    use cotangent_macros::kernel;

    #[kernel]
    pub(super) fn atan2(y: f32, x: f32) -> f32 {
        y.atan2(x)
    }
    #[kernel]
    pub(super) fn hypot(x: f32, y: f32) -> f32 {
        x.hypot(y)
    }
    #[kernel]
    pub(super) fn copysign(x: f32, sign: f32) -> f32 {
        x.copysign(sign)
    }
    #[kernel]
    pub(super) fn logaddexp(x: f32, y: f32) -> f32 {
        x.logaddexp(y)
    }
    #[kernel]
    pub(super) fn xlogy(x: f32, y: f32) -> f32 {
        x.xlogy(y)
    }
    #[kernel]
    pub(super) fn lerp(start: f32, end: f32, weight: f32) -> f32 {
        start.lerp(end, weight)
    }
    #[kernel]
    pub(super) fn addcmul(x: f32, a: f32, b: f32, value: f32) -> f32 {
        x + value * a * b
    }
    #[kernel]
    pub(super) fn addcdiv(x: f32, a: f32, b: f32, value: f32) -> f32 {
        x + value * a / b
    }
    #[kernel]
    pub(super) fn prelu(x: f32, weight: f32) -> f32 {
        if x > 0.0 { x } else { weight * x }
    }
    #[kernel]
    pub(super) fn isclose(x: f32, y: f32, rtol: f32, atol: f32) -> bool {
        let near = abs(x - y) <= atol + abs(rtol * y);
        x == y || isfinite(x - y) && near
    }
}

macro_rules! methods {
    ($($(#[$doc:meta])* $name:ident $companion:ident($($arg:ident: $A:ident),+);)*) => {
        impl Tensor {
            $(
                $(#[$doc])*
                ///
                /// Operands are tensors or numbers; dtypes are promoted and shapes broadcast, as by `+`.
                #[track_caller]
                pub fn $name<$($A: Operand),+>(self, $($arg: $A),+) -> Tensor {
                    elements(formulas::$name::KERNEL, (self, $($arg),+))
                }
                #[doc(hidden)]
                #[track_caller]
                pub fn $companion<$($A: Operand),+>(
                    self,
                    $($arg: $A,)+
                    want: Want,
                ) -> (Tensor, FusedPullback<(Tensor, $($A),+)>) {
                    elements_vjp(formulas::$name::KERNEL, (self, $($arg),+), want.of_function())
                }
            )*
        }
    };
}

methods! {
    /// The angle from -π to π of the point whose height is `self` and whose distance to the right is `other`.
    atan2 atan2__vjp(other: A);
    /// `sqrt(self^2 + other^2)`, which does not overflow on the way. Slope 0 where both are 0.
    hypot hypot__vjp(other: A);
    /// The size of `self` with the sign of `other`, that of -0 too.
    copysign copysign__vjp(other: A);
    /// `log(e^self + e^other)`, which does not overflow on the way.
    logaddexp logaddexp__vjp(other: A);
    /// `self * log(other)`, and 0 where `self` is 0 and `other` is not NaN.
    xlogy xlogy__vjp(other: A);
    /// `self + weight * (end - self)`, counted from the nearer end: exactly `end` for a weight of 1.
    lerp lerp__vjp(end: A, weight: B);
    /// `self + value * a * b`.
    addcmul addcmul__vjp(a: A, b: B, value: C);
    /// `self + value * a / b`.
    addcdiv addcdiv__vjp(a: A, b: B, value: C);
}

impl Tensor {
    /// Each element where it is above 0, else `weight` times it: of one weight, or of one for each entry of axis 1, the
    /// channels. Slope `weight` at 0.
    ///
    /// Raises `Error::Shape` where the number of weights is neither 1 nor that of the channels.
    #[track_caller]
    pub fn prelu(self, weight: Tensor) -> Tensor {
        let weight = over_channels(&self, weight.raw);
        elements(formulas::prelu::KERNEL, (self, Tensor::<Float>::from_raw(weight)))
    }

    #[doc(hidden)]
    #[allow(clippy::type_complexity, reason = "the type of a companion names all of its cotangents")]
    #[track_caller]
    pub fn prelu__vjp(
        self,
        weight: Tensor,
        want: Want,
    ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, Option<Tensor>)> + use<>) {
        let shape = weight.raw.shape;
        let weight: Tensor = Tensor::from_raw(over_channels(&self, weight.raw));
        let (y, slopes) = elements_vjp(formulas::prelu::KERNEL, (self, weight), want.of_function());
        let pullback = crate::diff::pull(move |ct: Option<Tensor>, (): &mut ()| {
            let (dx, dw) = Pullback::pull(slopes, ct, &mut ());
            (dx, dw.map(|dw| Tensor::from_raw(dw.raw.reshape(&shape))))
        });
        (y, pullback)
    }

    /// Where both are equal or differ by at most `atol + rtol * |other|`. NaN is close to nothing; shapes broadcast.
    #[track_caller]
    pub fn isclose<A: Operand>(self, other: A, rtol: f64, atol: f64) -> Tensor<Bool> {
        elements(formulas::isclose::KERNEL, (self, other, rtol, atol))
    }
}

/// The weights with an axis of extent 1 for each axis behind the channels.
#[track_caller]
fn over_channels(x: &Tensor, weight: Raw) -> Raw {
    let channels = x.shape().get(1).copied();
    if weight.numel() == 1 {
        return weight.reshape(&Dims::new());
    }
    if weight.shape.len() != 1 || channels != Some(weight.shape[0]) {
        let message = format!(
            "the weight is {:?}, but the input is {:?}: expected one weight, or one for each entry of axis 1",
            weight.shape,
            x.shape()
        );
        raise(Error::Shape { op: "prelu".into(), message });
    }
    let mut weight = weight;
    for _ in 2..x.rank() {
        let rank = weight.shape.len();
        weight = weight.insert_axis("prelu", rank);
    }
    weight
}
