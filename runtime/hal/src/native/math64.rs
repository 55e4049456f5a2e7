//! Elementary functions of `f64` under the names of [`math`](super::math), by the standard library: exact to about one
//! unit in the last place. They serve what checks other results, so that they need not vectorise.

/// `a * b + c`, with one rounding where `FMA`.
#[inline(always)]
pub fn fma<const FMA: bool>(a: f64, b: f64, c: f64) -> f64 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}

/// `e^x`.
#[inline(always)]
pub fn exp<const FMA: bool>(x: f64) -> f64 {
    x.exp()
}

/// The natural logarithm. `-inf` at 0, NaN below 0.
#[inline(always)]
pub fn log<const FMA: bool>(x: f64) -> f64 {
    x.ln()
}

/// `e^x - 1`.
#[inline(always)]
pub fn expm1<const FMA: bool>(x: f64) -> f64 {
    x.exp_m1()
}

/// `log(1 + x)`. `-inf` at -1, NaN below.
#[inline(always)]
pub fn log1p<const FMA: bool>(x: f64) -> f64 {
    x.ln_1p()
}

/// The hyperbolic sine.
#[inline(always)]
pub fn sinh<const FMA: bool>(x: f64) -> f64 {
    x.sinh()
}

/// The hyperbolic cosine.
#[inline(always)]
pub fn cosh<const FMA: bool>(x: f64) -> f64 {
    x.cosh()
}

/// The inverse hyperbolic sine. The standard library's overflows where its argument is large.
#[inline(always)]
pub fn asinh<const FMA: bool>(x: f64) -> f64 {
    libm::asinh(x)
}

/// The inverse hyperbolic cosine, NaN below 1. The standard library's loses digits near 1.
#[inline(always)]
pub fn acosh<const FMA: bool>(x: f64) -> f64 {
    if x >= 1.0 { libm::acosh(x) } else { f64::NAN }
}

/// The inverse hyperbolic tangent. The standard library's loses digits near -1.
#[inline(always)]
pub fn atanh<const FMA: bool>(x: f64) -> f64 {
    libm::atanh(x)
}

/// The hyperbolic tangent.
#[inline(always)]
pub fn tanh<const FMA: bool>(x: f64) -> f64 {
    x.tanh()
}

/// The error function.
#[inline(always)]
pub fn erf<const FMA: bool>(x: f64) -> f64 {
    libm::erf(x)
}

/// One minus the error function.
#[inline(always)]
pub fn erfc<const FMA: bool>(x: f64) -> f64 {
    libm::erfc(x)
}

/// The logistic function `1 / (1 + e^-x)`.
#[inline(always)]
pub fn sigmoid<const FMA: bool>(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// `1 / sqrt(x)`. Infinite at 0, with its sign; NaN below.
#[inline(always)]
pub fn rsqrt<const FMA: bool>(x: f64) -> f64 {
    1.0 / x.sqrt()
}

/// The sine.
#[inline(always)]
pub fn sin<const FMA: bool>(x: f64) -> f64 {
    x.sin()
}

/// The cosine.
#[inline(always)]
pub fn cos<const FMA: bool>(x: f64) -> f64 {
    x.cos()
}
