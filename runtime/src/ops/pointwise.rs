//! Functions of each element alone: methods for the table of built-in functions.
//!
//! Errors in `f32` are below 2 units in the last place of the result, over the whole range of `f32`, and where a method
//! says otherwise below what it says; `tests/ops/ulp.rs` holds each to its own bound. A result below the smallest normal
//! number may be 0.

use super::elementwise::{Chain, Function, Slope};
use super::operand::Number;
use crate::diff::{Pullback, Want};
use crate::tensor::{Int, Tensor};
use cotangent_hal::DType;
use cotangent_macros::functions;

functions! {
    /// `-x` of each element `x`.
    #[allow(clippy::should_implement_trait, reason = "the trait is implemented too")]
    neg;
    /// The magnitude of each element; slope 0 at 0.
    abs;
    /// `e` to the power of each element.
    exp;
    /// 2 to the power of each element.
    exp2;
    /// `e^x - 1` of each element `x`, exact near 0.
    expm1;
    /// The natural logarithm of each element; NaN below 0.
    log;
    /// The natural logarithm of `1 + x` of each element `x`, exact near 0; NaN below -1.
    log1p;
    /// The logarithm of each element to the base 2; NaN below 0.
    log2;
    /// The logarithm of each element to the base 10; NaN below 0.
    log10;
    /// The square root of each element; NaN below 0.
    sqrt;
    /// One over the square root of each element.
    rsqrt;
    /// The square of each element.
    square;
    /// One over each element.
    reciprocal;
    /// The sine of each element, in radians.
    sin;
    /// The cosine of each element, in radians.
    cos;
    /// The tangent of each element, in radians.
    tan;
    /// The angle from -π/2 to π/2 whose sine each element is; NaN beyond -1 and 1.
    asin;
    /// The angle from 0 to π whose cosine each element is; NaN beyond -1 and 1.
    acos;
    /// The angle from -π/2 to π/2 whose tangent each element is.
    atan;
    /// The hyperbolic sine of each element.
    sinh;
    /// The hyperbolic cosine of each element.
    cosh;
    /// The hyperbolic tangent of each element.
    tanh;
    /// The number whose hyperbolic sine each element is.
    asinh;
    /// The number from 0 on whose hyperbolic cosine each element is; NaN below 1.
    acosh;
    /// The number whose hyperbolic tangent each element is; NaN beyond -1 and 1.
    atanh;
    /// The error function of each element.
    erf;
    /// One minus the error function of each element, exact where it is small. The error is below 5 units in the last place.
    erfc;
    /// The number whose error function each element is; infinite at -1 and 1, NaN beyond.
    erfinv;
    /// The logarithm of the size of the gamma function of each element.
    lgamma;
    /// The derivative of [`lgamma`](Tensor::lgamma) at each element; NaN at 0 and at negative whole numbers.
    digamma;
    /// `sin(π x) / (π x)` of each element `x`, and 1 at 0. The angle is rounded, so that the error grows with it.
    sinc;
    /// The logarithm of the odds, `log(x / (1 - x))`, of each element `x`; NaN outside of 0 to 1.
    logit;
    /// As [`logit`](Tensor::logit), of each element kept between `eps` and `1 - eps`; slope 0 where that moves it.
    logit_with = logit(eps);
    /// Each angle in degrees as radians.
    deg2rad;
    /// Each angle in radians as degrees.
    rad2deg;
    /// The logistic function `1 / (1 + e^-x)` of each element.
    sigmoid;
    /// The logarithm of the logistic function of each element.
    logsigmoid;
    /// The larger of each element and 0; slope 0 at 0, and NaN stays NaN.
    relu;
    /// Each element, no less than 0 and no more than 6; slope 0 at both.
    relu6;
    /// Each element, no less than `min_val` and no more than `max_val`; slope 0 at both.
    hardtanh(min_val, max_val);
    /// Each element where it is above 0, else `negative_slope` times it.
    leaky_relu(negative_slope);
    /// Each element `x` where it is above 0, else `alpha (e^x - 1)`.
    elu(alpha);
    /// Each element `x` where it is above 0, else `alpha (e^(x / alpha) - 1)`.
    celu(alpha);
    /// The self-normalising multiple of [`elu`](Tensor::elu): 1.0507 times it with an alpha of 1.6733.
    selu;
    /// `x Φ(x)` with the distribution function `Φ` of the normal distribution, by the error function.
    ///
    /// The error is below 1.6 units in the last place of the result or of 1, whichever is larger.
    gelu;
    /// The approximation of [`gelu`](Tensor::gelu) by `tanh`.
    ///
    /// The error is below 2 units in the last place of the result or of 1, whichever is larger.
    gelu_tanh;
    /// `x / (1 + e^-x)` of each element `x`, also called swish.
    ///
    /// The error is below 3.5 units in the last place, and where `x` is below -87 the result may be 0.
    silu;
    /// `x tanh(log(1 + e^x))` of each element `x`.
    ///
    /// The error is below 4 units in the last place, and where `x` is below -87 the result may be 0.
    mish;
    /// `log(1 + e^x)` of each element `x`; `x` itself above 20, as in PyTorch.
    softplus;
    /// `log(1 + e^(beta x)) / beta` of each element `x`; `x` itself where `beta x` is above `threshold`.
    softplus_with = softplus(beta, threshold);
    /// `x / (1 + |x|)` of each element `x`.
    softsign;
    /// Each element where it is below `-lambd` or above `lambd`, else 0.
    hardshrink(lambd);
    /// Each element moved towards 0 by `lambd`, and 0 where it does not get there.
    softshrink(lambd);
    /// `x - tanh x` of each element `x`.
    ///
    /// The error is below 2 units in the last place of the element.
    tanhshrink;
    /// Each element where it is above `threshold`, else `value`; the slope at the threshold is 0.
    threshold(threshold, value);
    mod finite = nan_to_num(nan, posinf, neginf);
    /// `x (x + 3) / 6` between -3 and 3 of each element `x`, 0 below and `x` above: [`silu`](Tensor::silu) in pieces.
    ///
    /// The error is below 1.8 units in the last place of the result or of 1, whichever is larger.
    hardswish;
    /// `(x + 3) / 6` between -3 and 3 of each element `x`, 0 below and 1 above: [`sigmoid`](Tensor::sigmoid) in pieces.
    hardsigmoid;
    /// -1, 0 or 1 after the sign of each element; 0 for NaN. Slope 0.
    sign;
    /// Each element rounded down. Slope 0.
    floor;
    /// Each element rounded up. Slope 0.
    ceil;
    /// Each element rounded to the nearest whole number, halves to the even one. Slope 0.
    round;
    /// Each element without its fraction. Slope 0.
    trunc;
    /// The fraction of each element, with its sign.
    frac;
}

impl Tensor {
    /// Each element itself.
    pub fn positive(self) -> Tensor {
        self
    }

    #[doc(hidden)]
    #[allow(non_snake_case, reason = "companions bear the method's name")]
    pub fn positive__vjp(
        self,
        want: Want,
    ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>,)> + use<>) {
        (self, if want.has(0) { Chain::passing() } else { Chain::unwanted() })
    }

    /// Another name of [`sign`](Tensor::sign), which it is for real numbers.
    #[track_caller]
    pub fn sgn(self) -> Tensor {
        self.sign()
    }

    #[doc(hidden)]
    #[allow(non_snake_case, reason = "companions bear the method's name")]
    #[track_caller]
    pub fn sgn__vjp(
        self,
        want: Want,
    ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>,)> + use<>) {
        self.sign__vjp(want)
    }

    /// Each element, with 0 in place of NaN and the largest and the lowest number of the dtype in place of the infinities.
    /// Slope 0 where an element is replaced.
    #[track_caller]
    pub fn nan_to_num(self) -> Tensor {
        let [high, low] = limits(self.dtype());
        self.nan_to_num_with(0.0, high, low)
    }

    #[doc(hidden)]
    #[allow(non_snake_case, reason = "companions bear the method's name")]
    #[track_caller]
    pub fn nan_to_num__vjp(
        self,
        want: Want,
    ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>,)> + use<>) {
        let [high, low] = limits(self.dtype());
        finite::FUNCTION.vjp(self, &[0.0.number(), high.number(), low.number()], want)
    }

    /// As [`nan_to_num`](Tensor::nan_to_num), with these numbers in place of NaN, `inf` and `-inf`.
    #[track_caller]
    pub fn nan_to_num_with(self, nan: impl Number, posinf: impl Number, neginf: impl Number) -> Tensor {
        finite::FUNCTION.of(self, &[nan.number(), posinf.number(), neginf.number()])
    }

    #[doc(hidden)]
    #[allow(non_snake_case, reason = "companions bear the method's name")]
    #[allow(clippy::type_complexity, reason = "the type of a companion names all of its cotangents")]
    #[track_caller]
    pub fn nan_to_num_with__vjp<A: Number, B: Number, C: Number>(
        self,
        nan: A,
        posinf: B,
        neginf: C,
        want: Want,
    ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, (), (), ())> + use<A, B, C>) {
        let (y, chain) = finite::FUNCTION.vjp(self, &[nan.number(), posinf.number(), neginf.number()], want);
        (y, crate::diff::pull(move |ct, (): &mut ()| (chain.pull(ct, &mut ()).0, (), (), ())))
    }
}

/// The largest and the lowest number of a float dtype.
fn limits(dtype: DType) -> [f64; 2] {
    let high = match dtype {
        DType::F64 => f64::MAX,
        DType::F16 => f64::from(half::f16::MAX),
        DType::BF16 => f64::from(half::bf16::MAX),
        DType::F32 | DType::I64 | DType::I32 | DType::U8 | DType::Bool => f64::from(f32::MAX),
    };
    [high, -high]
}
