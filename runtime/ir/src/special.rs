//! Functions that the standard library lacks, to about 14 digits.

use std::f64::consts::{FRAC_2_SQRT_PI, PI};

/// The error function: its series near 0, its continued fraction far out.
pub fn erf(x: f64) -> f64 {
    let a = x.abs();
    if a.is_nan() || a == 0.0 {
        return x;
    }
    if a < 3.0 {
        let (mut sum, mut term) = (a, a);
        for n in 1..200 {
            let n = f64::from(n);
            term *= -a * a / n;
            let part = term / (2.0 * n + 1.0);
            sum += part;
            if part.abs() < 1e-17 * sum.abs() {
                break;
            }
        }
        return (sum * FRAC_2_SQRT_PI).copysign(x);
    }
    let fraction = (1..60).rev().fold(0.0, |f, k| f64::from(k) / 2.0 / (a + f));
    (1.0 - (-a * a).exp() / ((a + fraction) * PI.sqrt())).copysign(x)
}

/// One minus the error function, without the loss of digits where it is small.
pub fn erfc(x: f64) -> f64 {
    if x < 2.0 || x.is_nan() {
        return 1.0 - erf(x);
    }
    let fraction = (1..120).rev().fold(0.0, |f, k| f64::from(k) / 2.0 / (x + f));
    (-x * x).exp() / ((x + fraction) * PI.sqrt())
}

/// The number whose error function is `x`; NaN beyond -1 and 1. An estimate, improved by Halley's method.
pub fn erfinv(x: f64) -> f64 {
    let rest = 1.0 - x.abs();
    if x.is_nan() || rest < 0.0 {
        return f64::NAN;
    }
    if rest == 0.0 {
        return f64::INFINITY.copysign(x);
    }
    // Winitzki's formula, right to about three digits.
    let log = (rest * (1.0 + x.abs())).ln();
    let half = 2.0 / (PI * 0.147) + log / 2.0;
    let mut z = ((half * half - log / 0.147).sqrt() - half).sqrt();
    for _ in 0..3 {
        // Far out, the distance from 1 tells more than the value.
        let miss = if z < 0.5 { erf(z) - x.abs() } else { rest - erfc(z) };
        let step = miss / (FRAC_2_SQRT_PI * (-z * z).exp());
        z -= step / (1.0 + z * step);
    }
    z.copysign(x)
}

/// The logarithm of the absolute value of the gamma function: Stirling's series, the recurrence to reach it, and the
/// reflection for negative arguments.
pub fn lgamma(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    if x.is_infinite() || (x <= 0.0 && x == x.floor()) {
        return f64::INFINITY;
    }
    if x < 0.5 {
        return (PI / (PI * x).sin().abs()).ln() - lgamma(1.0 - x);
    }
    let (mut z, mut shift) = (x, 1.0);
    while z < 15.0 {
        shift *= z;
        z += 1.0;
    }
    let inverse = 1.0 / (z * z);
    const TERMS: [f64; 6] = [1.0 / 12.0, -1.0 / 360.0, 1.0 / 1260.0, -1.0 / 1680.0, 1.0 / 1188.0, -691.0 / 360_360.0];
    let series = TERMS.iter().rev().fold(0.0, |s, t| s * inverse + t) / z;
    (z - 0.5) * z.ln() - z + 0.5 * (2.0 * PI).ln() + series - shift.ln()
}

/// The derivative of [`lgamma`].
pub fn digamma(x: f64) -> f64 {
    if x.is_nan() || x == f64::INFINITY {
        return x;
    }
    if x == 0.0 {
        return f64::INFINITY.copysign(-x);
    }
    if x < 0.0 && x == x.floor() {
        return f64::NAN;
    }
    if x < 0.5 {
        return digamma(1.0 - x) - PI / (PI * x).tan();
    }
    let (mut z, mut shift) = (x, 0.0);
    while z < 15.0 {
        shift += 1.0 / z;
        z += 1.0;
    }
    let inverse = 1.0 / (z * z);
    const TERMS: [f64; 6] = [1.0 / 12.0, -1.0 / 120.0, 1.0 / 252.0, -1.0 / 240.0, 1.0 / 132.0, -691.0 / 32_760.0];
    let series = TERMS.iter().rev().fold(0.0, |s, t| s * inverse + t) * inverse;
    z.ln() - 0.5 / z - series - shift
}

/// The derivative of [`digamma`].
pub fn trigamma(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    if x <= 0.0 && x == x.floor() {
        return f64::INFINITY;
    }
    if x < 0.5 {
        let sine = (PI * x).sin();
        return (PI / sine) * (PI / sine) - trigamma(1.0 - x);
    }
    let (mut z, mut shift) = (x, 0.0);
    while z < 15.0 {
        shift += 1.0 / (z * z);
        z += 1.0;
    }
    let inverse = 1.0 / (z * z);
    const TERMS: [f64; 6] = [1.0 / 6.0, -1.0 / 30.0, 1.0 / 42.0, -1.0 / 30.0, 5.0 / 66.0, -691.0 / 2730.0];
    let series = TERMS.iter().rev().fold(0.0, |s, t| s * inverse + t) * inverse / z;
    1.0 / z + inverse / 2.0 + series + shift
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(found: f64, expected: f64) {
        assert!((found - expected).abs() <= 1e-13 * expected.abs().max(1.0), "{found} is not {expected}");
    }

    #[test]
    fn known_values() {
        check(erf(0.5), 0.520_499_877_813_046_5);
        check(erf(-2.0), -0.995_322_265_018_952_7);
        check(erf(3.5), 0.999_999_256_901_627_7);
        check(lgamma(0.5), PI.sqrt().ln());
        check(lgamma(10.0), 362_880f64.ln());
        check(lgamma(-0.5), (2.0 * PI.sqrt()).ln());
        check(lgamma(1.0), 0.0);
        check(digamma(1.0), -0.577_215_664_901_532_9);
        check(digamma(0.5), -1.963_510_026_021_423_5);
        check(digamma(-0.5), 0.036_489_973_978_576_52);
        check(trigamma(1.0), PI * PI / 6.0);
        check(trigamma(0.5), PI * PI / 2.0);
        check(trigamma(-0.5), PI * PI / 2.0 + 4.0);
        check(erfc(0.5), 0.479_500_122_186_953_5);
        check(erfc(5.0) * 1e12, 1.537_459_794_428_034_8);
        check(erfinv(0.5), 0.476_936_276_204_469_87);
        check(erfinv(-0.999), -2.326_753_765_513_524_7);
        check(erfinv(1e-5) * 1e5, 0.886_226_925_476_049);
        assert_eq!((erfinv(1.0), erfinv(-1.0)), (f64::INFINITY, f64::NEG_INFINITY));
        assert!(erfinv(1.1).is_nan());
        assert_eq!(erf(-0.0).to_bits(), (-0.0f64).to_bits());
        assert_eq!(lgamma(-3.0), f64::INFINITY);
    }
}
