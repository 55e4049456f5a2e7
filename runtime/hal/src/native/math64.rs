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
