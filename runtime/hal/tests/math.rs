//! The errors that `native::math` states, against `f64` over floats of all magnitudes.

#![cfg(not(miri))]

use cotangent_hal::native::{math, math64};

/// Asserts that `f` stays within `bound` units in the last place of `exact`; results below the smallest normal number
/// may be 0.
fn check(name: &str, f: fn(f32) -> f32, exact: fn(f64) -> f64, bound: f64) {
    let mut worst = (0.0, 0.0);
    // A prime step visits all exponents and both signs.
    for bits in (0..=u32::MAX).step_by(1999) {
        let x = f32::from_bits(bits);
        let (y, wanted) = (f(x), exact(f64::from(x)));
        if wanted.is_nan() {
            assert!(y.is_nan(), "{name}({x:e}) is {y}, not NaN");
        } else if wanted.abs() < f64::from(f32::MIN_POSITIVE) {
            assert!(y.abs() <= f32::MIN_POSITIVE, "{name}({x:e}) is {y:e}");
        } else if (wanted as f32).is_infinite() || y.is_infinite() {
            // The exact value may round to either side of the largest float.
            let ok = y == wanted as f32 || wanted.abs() / f64::from(f32::MAX) > 1.0 - 1e-6 && wanted.is_finite();
            assert!(ok, "{name}({x:e}) is {y}, not {wanted}");
        } else {
            let error = (f64::from(y) - wanted).abs() / ulp(wanted);
            if error > worst.0 {
                worst = (error, x);
            }
        }
    }
    assert!(worst.0 <= bound, "{name} errs by {:.3} ulp at {:e}, more than {bound}", worst.0, worst.1);
}

fn ulp(v: f64) -> f64 {
    let v = (v.abs() as f32).min(f32::MAX);
    let below = f32::from_bits(v.to_bits() & 0xff80_0000);
    f64::from(below) * f64::from(f32::EPSILON)
}

/// The error function by its series near 0 and its continued fraction beyond.
fn exact_erf(x: f64) -> f64 {
    let a = x.abs();
    if a.is_nan() || a < 1e-150 {
        return x * std::f64::consts::FRAC_2_SQRT_PI;
    }
    let size = if a < 3.0 {
        let (mut sum, mut term, mut n) = (a, a, 0.0);
        while f64::abs(term) > 1e-18 * sum {
            n += 1.0;
            term *= -a * a / n;
            sum += term / (2.0 * n + 1.0);
        }
        sum * std::f64::consts::FRAC_2_SQRT_PI
    } else {
        let fraction = (1..60).rev().fold(0.0, |f, k| f64::from(k) / 2.0 / (a + f));
        1.0 - (-a * a).exp() / ((a + fraction) * std::f64::consts::PI.sqrt())
    };
    size.copysign(x)
}

macro_rules! errors {
    ($($name:ident: $exact:expr, $bound:literal;)*) => {
        $(#[test]
        fn $name() {
            check(stringify!($name), math::$name::<false>, $exact, $bound);
            check(concat!(stringify!($name), " with FMA"), math::$name::<true>, $exact, $bound);
        })*
    };
}

errors! {
    exp: f64::exp, 1.1;
    log: f64::ln, 0.9;
    tanh: f64::tanh, 1.9;
    erf: exact_erf, 1.2;
    erfc: math64::erfc::<false>, 5.0;
    expm1: f64::exp_m1, 1.6;
    log1p: f64::ln_1p, 1.6;
    sinh: f64::sinh, 1.8;
    cosh: f64::cosh, 1.8;
    asinh: math64::asinh::<false>, 2.0;
    acosh: math64::acosh::<false>, 2.0;
    atanh: math64::atanh::<false>, 2.0;
    sigmoid: |x| 1.0 / (1.0 + (-x).exp()), 2.0;
    rsqrt: |x| 1.0 / x.sqrt(), 1.5;
    sin: f64::sin, 1.6;
    cos: f64::cos, 1.6;
}

#[test]
fn sines_near_multiples_of_half_pi() {
    for k in 1..200_000 {
        let x = (f64::from(k) * std::f64::consts::FRAC_PI_2) as f32;
        let (s, c) = (math::sin::<true>(x), math::cos::<false>(x));
        let exact = f64::from(x).sin_cos();
        assert!((f64::from(s) - exact.0).abs() <= 1.6 * ulp(exact.0), "sin({x:e}) is {s:e}, not {:e}", exact.0);
        assert!((f64::from(c) - exact.1).abs() <= 1.6 * ulp(exact.1), "cos({x:e}) is {c:e}, not {:e}", exact.1);
    }
}

#[test]
fn special_values() {
    const INF: f32 = f32::INFINITY;
    let same = |name: &str, f: [fn(f32) -> f32; 2], x: f32, wanted: f32| {
        for f in f {
            let y = f(x);
            let equal = y.to_bits() == wanted.to_bits() || y.is_nan() && wanted.is_nan();
            assert!(equal, "{name}({x}) is {y}, not {wanted}");
        }
    };
    macro_rules! same {
        ($($name:ident: $($x:expr => $y:expr),*;)*) => {
            $($(same(stringify!($name), [math::$name::<false>, math::$name::<true>], $x, $y);)*)*
        };
    }
    same! {
        exp: f32::NAN => f32::NAN, INF => INF, -INF => 0.0, 0.0 => 1.0, -0.0 => 1.0, 89.0 => INF, -200.0 => 0.0;
        log: f32::NAN => f32::NAN, INF => INF, -INF => f32::NAN, 0.0 => -INF, -0.0 => -INF, 1.0 => 0.0, -1.0 => f32::NAN;
        tanh: f32::NAN => f32::NAN, INF => 1.0, -INF => -1.0, 0.0 => 0.0, -0.0 => -0.0, 1e-40 => 1e-40;
        erf: f32::NAN => f32::NAN, INF => 1.0, -INF => -1.0, 0.0 => 0.0, -0.0 => -0.0;
        erfc: f32::NAN => f32::NAN, INF => 0.0, -INF => 2.0, 0.0 => 1.0, -0.0 => 1.0, 1e-40 => 1.0;
        expm1: f32::NAN => f32::NAN, INF => INF, -INF => -1.0, 0.0 => 0.0, -0.0 => -0.0, 1e-40 => 1e-40, 89.0 => INF;
        log1p: f32::NAN => f32::NAN, INF => INF, -INF => f32::NAN, -1.0 => -INF, -2.0 => f32::NAN, -0.0 => -0.0, 1e-40 => 1e-40;
        sinh: f32::NAN => f32::NAN, INF => INF, -INF => -INF, 0.0 => 0.0, -0.0 => -0.0, 90.0 => INF, 1e-40 => 1e-40;
        cosh: f32::NAN => f32::NAN, INF => INF, -INF => INF, 0.0 => 1.0, -0.0 => 1.0, -90.0 => INF;
        asinh: f32::NAN => f32::NAN, INF => INF, -INF => -INF, 0.0 => 0.0, -0.0 => -0.0, 1e-40 => 1e-40;
        acosh: f32::NAN => f32::NAN, INF => INF, -INF => f32::NAN, 1.0 => 0.0, 0.5 => f32::NAN;
        atanh: f32::NAN => f32::NAN, INF => f32::NAN, 1.0 => INF, -1.0 => -INF, -0.0 => -0.0, 1e-40 => 1e-40;
        sigmoid: f32::NAN => f32::NAN, INF => 1.0, -INF => 0.0, 0.0 => 0.5, -0.0 => 0.5;
        rsqrt: f32::NAN => f32::NAN, INF => 0.0, -INF => f32::NAN, 0.0 => INF, -0.0 => -INF, 4.0 => 0.5;
        sin: f32::NAN => f32::NAN, INF => f32::NAN, -INF => f32::NAN, 0.0 => 0.0, -0.0 => -0.0;
        cos: f32::NAN => f32::NAN, INF => f32::NAN, -INF => f32::NAN, 0.0 => 1.0, -0.0 => 1.0;
    }
}
