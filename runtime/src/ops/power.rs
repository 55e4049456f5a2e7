//! Powers.

#![allow(non_snake_case, reason = "companions are named `<operation>__vjp`")]

use super::arith::apply;
use super::arith_pullback::{BinaryPullback, apply_left_vjp, apply_vjp, of_chain};
use super::elementwise::{Chain, Function, Slope, binary, unary};
use super::operand::{IntOperand, Number, Operand, Value};
use super::pointwise::{reciprocal, rsqrt, sqrt, square};
use crate::diff::{Pullback, Want, pull};
use crate::raise::raise;
use crate::tensor::{Int, Tensor};
use cotangent_hal::{Error, Scalar};
use cotangent_macros::functions;

functions! {
    mod cube = powf(3.0);
    mod reciprocal_square = powf(-2.0);
}
/// The kernels, in a module of their own: a function of this name is declared beside it.
mod kernels {
    use crate::ops::elementwise::{Forms, Function, Pair, PairSlope, Slope};
    cotangent_macros::binary! { pow of both; }
}
use kernels::pow as any;

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
        _ => return Some((&any::FLOATS_RIGHT, std::slice::from_ref(exponent))),
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

    /// Each element to the power of the exponent's, a tensor whose shape broadcasts or a number; NaN for a negative element
    /// with a fractional exponent. The free function [`pow`] takes a number as the base.
    ///
    /// The exponent's slope is 0 where the base is 0 and the exponent not negative, the base's where the exponent is 0.
    #[track_caller]
    pub fn pow<R: Operand>(self, exponent: R) -> Tensor {
        match exponent.operand(self.dtype()) {
            Value::Number(n) => match power(&n) {
                Some((function, numbers)) => function.of(self, numbers),
                None => self,
            },
            exponent @ Value::Tensor(_) => apply(&any::FLOATS_FORMS, self, exponent),
        }
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn pow__vjp<R: Operand>(self, exponent: R, want: Want) -> (Tensor, BinaryPullback<Option<Tensor>, R::Ct>) {
        match exponent.operand(self.dtype()) {
            Value::Number(n) => {
                let (y, chain) = fixed(self, &n, want);
                (y, of_chain(chain))
            }
            exponent @ Value::Tensor(_) => apply_vjp(&any::FLOATS_FORMS, self, exponent, (want.has(0), want.has(1))),
        }
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn powf__vjp<N: Number>(
        self,
        exponent: N,
        want: Want,
    ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, ())> + use<N>) {
        let (y, chain) = fixed(self, &exponent.number(), want);
        (y, pull(move |ct, (): &mut ()| (chain.pull(ct, &mut ()).0, ())))
    }
}

/// The power with that exponent and its pullback.
#[track_caller]
fn fixed(x: Tensor, exponent: &Scalar, want: Want) -> (Tensor, Chain) {
    match power(exponent) {
        Some((function, numbers)) => function.vjp(x, numbers, want),
        None if want.has(0) => (x, Chain::passing()),
        None => (x, Chain::unwanted()),
    }
}

/// The base to the power of each element of the exponent. The base is a tensor, as in [`Tensor::pow`], or a number.
#[track_caller]
pub fn pow<A: Operand>(base: A, exponent: Tensor) -> Tensor {
    match base.operand(exponent.dtype()) {
        Value::Number(n) => any::FLOATS_LEFT.of(exponent, &[n]),
        Value::Tensor(base) => apply(&any::FLOATS_FORMS, base, Value::Tensor(exponent)),
    }
}

/// The companion of the function [`pow`].
#[doc(hidden)]
#[allow(non_camel_case_types, reason = "companions of functions bear the function's name")]
#[derive(Debug)]
pub enum pow {}

impl pow {
    #[doc(hidden)]
    #[track_caller]
    pub fn vjp<A: Operand>(base: A, exponent: Tensor, want: Want) -> (Tensor, BinaryPullback<A::Ct, Option<Tensor>>) {
        match base.operand(exponent.dtype()) {
            Value::Number(n) => apply_left_vjp(&any::FLOATS_LEFT, n, exponent, want.has(2)),
            Value::Tensor(base) => {
                apply_vjp(&any::FLOATS_FORMS, base, Value::Tensor(exponent), (want.has(1), want.has(2)))
            }
        }
    }
}

cotangent_hal::kernel! {
    static POW_INTS = Pointwise "pow" (x: Each I64, y: Each I64) -> (z: Each I64) |tile| {
        for i in 0..tile.1 {
            z[i] = int_power(x[i], y[i]);
        }
    }
}

cotangent_hal::kernel! {
    static POW_INT = Pointwise "pow" (x: Each I64; exponent) -> (z: Each I64) |tile| {
        for i in 0..tile.1 {
            z[i] = int_power(x[i], exponent.i64());
        }
    }
}

/// `base` to that power, wrapping; of a negative exponent the whole part, which is 0 unless the base is 1 or -1.
#[inline(always)]
fn int_power(base: i64, exponent: i64) -> i64 {
    if exponent < 0 {
        return match base {
            1 => 1,
            -1 if exponent % 2 == 0 => 1,
            -1 => -1,
            _ => 0,
        };
    }
    let (mut result, mut square, mut left) = (1i64, base, exponent);
    while left > 0 {
        if left & 1 == 1 {
            result = result.wrapping_mul(square);
        }
        square = square.wrapping_mul(square);
        left >>= 1;
    }
    result
}

impl Tensor<Int> {
    /// Each element to the power of the exponent's, wrapping: a tensor of integers, whose shape broadcasts, or an integer
    /// of at least 0. In a tensor of exponents a negative one gives the whole part of the power.
    ///
    /// Raises `Error::Argument` for a negative integer.
    #[track_caller]
    pub fn pow<R: IntOperand>(self, exponent: R) -> Tensor<Int> {
        Tensor::from_raw(match exponent.operand() {
            Value::Tensor(exponent) => binary(&POW_INTS, self.raw, exponent.raw, &[]),
            Value::Number(n) if n.i64() >= 0 => unary(&POW_INT, self.raw, &[n]),
            Value::Number(n) => {
                let message = format!(
                    "the exponent is {}, but integers have powers of at least 0; floats have others (`float`)",
                    n.i64()
                );
                raise(Error::Argument { op: "pow".into(), message })
            }
        })
    }
}
