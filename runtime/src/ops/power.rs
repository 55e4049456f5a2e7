//! Powers with a fixed exponent.

#![allow(non_snake_case, reason = "companions are named `<operation>__vjp`")]

use super::elementwise::{Chain, Function, Slope};
use super::operand::Number;
use super::pointwise::{reciprocal, rsqrt, sqrt, square};
use crate::diff::{Pullback, Want, pull};
use crate::tensor::Tensor;
use cotangent_hal::Scalar;
use cotangent_macros::functions;

functions! {
    mod cube = powf(3.0);
    mod reciprocal_square = powf(-2.0);
    mod any = powf(exponent);
}

/// The power with that exponent, and the numbers that it takes: small exponents by multiplication, others by the standard
/// library. None for the operand itself.
fn power(exponent: &Scalar) -> Option<(&'static Function, &[Scalar])> {
    let function = match exponent.f64() {
        1.0 => return None,
        2.0 => &square::FUNCTION,
        3.0 => &cube::FUNCTION,
        0.5 => &sqrt::FUNCTION,
        -0.5 => &rsqrt::FUNCTION,
        -1.0 => &reciprocal::FUNCTION,
        -2.0 => &reciprocal_square::FUNCTION,
        _ => return Some((&any::FUNCTION, std::slice::from_ref(exponent))),
    };
    Some((function, &[]))
}

impl Tensor {
    /// Each element to the power of `exponent`; NaN for a negative element with a fractional exponent.
    #[track_caller]
    pub fn powf(self, exponent: impl Number) -> Tensor {
        match power(&exponent.number()) {
            Some((function, numbers)) => function.of(self, numbers),
            None => self,
        }
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn powf__vjp<N: Number>(
        self,
        exponent: N,
        want: Want,
    ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, ())> + use<N>) {
        let (y, chain) = match power(&exponent.number()) {
            Some((function, numbers)) => function.vjp(self, numbers, want),
            None if want.has(0) => (self, Chain::passing()),
            None => (self, Chain::unwanted()),
        };
        (y, pull(move |ct, (): &mut ()| (chain.pull(ct, &mut ()).0, ())))
    }
}
