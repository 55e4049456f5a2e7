//! Operations on each element alone: elementary functions and activations.

#![allow(non_snake_case, reason = "companions are named `<operation>__vjp`")]

use super::elementwise::{Keep, unary, unary_vjp};
use crate::diff::{Pullback, Want};
use crate::tensor::Tensor;
use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI};

/// Declares operations of one operand: the function of an element, what the pullback keeps, and the cotangent as a
/// function of the result's cotangent and the kept value.
macro_rules! pointwise {
    ($(
        $(#[$doc:meta])*
        $name:ident, $companion:ident, $text:literal: |$x:ident| $f:expr; $keep:ident |$ct:ident, $v:ident| $g:expr;
    )*) => {
        $(mod $name {
            #[allow(unused_imports, reason = "not every function needs constants")]
            use super::*;
            cotangent_hal::kernel! {
                pub(super) static FORWARD = Pointwise $text ($x: Each F32) -> (out: Each F32) |tile| {
                    for i in 0..tile.1 {
                        let $x = $x[i];
                        out[i] = $f;
                    }
                }
            }
            cotangent_hal::kernel! {
                pub(super) static BACKWARD = Pointwise $text ($ct: Each F32, $v: Each F32) -> (out: Each F32) |tile| {
                    for i in 0..tile.1 {
                        let ($ct, $v) = ($ct[i], $v[i]);
                        out[i] = $g;
                    }
                }
            }
        })*
        impl Tensor {
            $(
                $(#[$doc])*
                #[track_caller]
                pub fn $name(self) -> Tensor {
                    Tensor::from_raw(unary(&$name::FORWARD, self.raw, &[]))
                }
                #[doc(hidden)]
                #[track_caller]
                pub fn $companion(
                    self,
                    want: Want,
                ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>,)> + use<>) {
                    unary_vjp(&$name::FORWARD, &$name::BACKWARD, self, Keep::$keep, None, want)
                }
            )*
        }
    };
}

/// `1 / sqrt(2 pi)`.
const ONE_OVER_SQRT_TAU: f64 = 0.398_942_280_401_432_7;
/// `2 sqrt(2 / pi)`, and that times 0.044715: the argument of the logistic function in the approximation of gelu.
const GELU_LINEAR: f64 = 1.595_769_121_605_730_7;
const GELU_CUBIC: f64 = GELU_LINEAR * 0.044_715;

/// The probability that a normal variable lies below `x`. A macro, as are those below: `Real` and `math` are those of
/// the kernel that it stands in.
macro_rules! normal_below {
    ($x:expr) => {
        0.5 * (1.0 + math::erf::<FMA>($x * FRAC_1_SQRT_2 as Real))
    };
}

/// Twice the argument of the hyperbolic tangent in the approximation of gelu, since `(1 + tanh s) / 2` is the logistic
/// function of `2 s`.
macro_rules! gelu_slope {
    ($x:expr) => {
        $x * math::fma::<FMA>($x * $x, GELU_CUBIC as Real, GELU_LINEAR as Real)
    };
}

pointwise! {
    /// The magnitude of each element; slope 0 at 0.
    abs, abs__vjp, "abs": |x| x.abs();
        Input |ct, x| ct * if x > 0.0 { 1.0 } else if x < 0.0 { -1.0 } else { x };
    /// `e` to the power of each element.
    exp, exp__vjp, "exp": |x| math::exp::<FMA>(x); Output |ct, y| ct * y;
    /// The natural logarithm of each element; NaN below 0.
    log, log__vjp, "log": |x| math::log::<FMA>(x); Input |ct, x| ct / x;
    /// The square root of each element; NaN below 0.
    sqrt, sqrt__vjp, "sqrt": |x| x.sqrt(); Output |ct, y| ct / (2.0 * y);
    /// One over the square root of each element.
    rsqrt, rsqrt__vjp, "rsqrt": |x| math::rsqrt::<FMA>(x); Output |ct, y| -0.5 * ct * (y * y * y);
    /// The square of each element.
    square, square__vjp, "square": |x| x * x; Input |ct, x| 2.0 * x * ct;
    /// The sine of each element, in radians.
    sin, sin__vjp, "sin": |x| math::sin::<FMA>(x); Input |ct, x| ct * math::cos::<FMA>(x);
    /// The cosine of each element, in radians.
    cos, cos__vjp, "cos": |x| math::cos::<FMA>(x); Input |ct, x| -(ct * math::sin::<FMA>(x));
    /// The hyperbolic tangent of each element.
    tanh, tanh__vjp, "tanh": |x| math::tanh::<FMA>(x); Output |ct, y| ct * (1.0 - y * y);
    /// The error function of each element.
    erf, erf__vjp, "erf": |x| math::erf::<FMA>(x);
        Input |ct, x| ct * (FRAC_2_SQRT_PI as Real * math::exp::<FMA>(-(x * x)));
    /// The logistic function `1 / (1 + e^-x)` of each element.
    sigmoid, sigmoid__vjp, "sigmoid": |x| math::sigmoid::<FMA>(x); Output |ct, y| ct * ((1.0 - y) * y);
    /// The larger of each element and 0; slope 0 at 0, and NaN stays NaN.
    relu, relu__vjp, "relu": |x| if x < 0.0 { 0.0 } else { x }; Output |ct, y| if y <= 0.0 { 0.0 } else { ct };
    /// `x Φ(x)` with the distribution function `Φ` of the normal distribution, by the error function.
    gelu, gelu__vjp, "gelu": |x| x * normal_below!(x);
        Input |ct, x| ct * math::fma::<FMA>(
            x,
            ONE_OVER_SQRT_TAU as Real * math::exp::<FMA>(-0.5 * (x * x)),
            normal_below!(x),
        );
    /// The approximation of [`gelu`](Tensor::gelu) by `tanh`.
    gelu_tanh, gelu_tanh__vjp, "gelu_tanh": |x| x * math::sigmoid::<FMA>(gelu_slope!(x));
        Input |ct, x| {
            let s = math::sigmoid::<FMA>(gelu_slope!(x));
            let du = math::fma::<FMA>(x * x, 3.0 * GELU_CUBIC as Real, GELU_LINEAR as Real);
            ct * math::fma::<FMA>(x * s * (1.0 - s), du, s)
        };
    /// `x / (1 + e^-x)` of each element `x`, also called swish.
    silu, silu__vjp, "silu": |x| x * math::sigmoid::<FMA>(x);
        Input |ct, x| {
            let s = math::sigmoid::<FMA>(x);
            ct * (s * math::fma::<FMA>(x, 1.0 - s, 1.0))
        };
}
