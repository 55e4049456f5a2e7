use crate::reference::{Array, SHAPES, check_unary, close, cpu, exact, layouts, near, pulled, tolerance};
use cotangent_runtime::diff::Want;
use cotangent_runtime::testing::{GradCheck, check_grad};
use cotangent_runtime::{Tensor, attempt};

/// The error function by its series and its continued fraction.
fn exact_erf(x: f64) -> f64 {
    let a = x.abs();
    let value = if a < 3.0 {
        let (mut sum, mut term, mut n) = (a, a, 0.0);
        while term.abs() > 1e-18 * sum.abs() {
            n += 1.0;
            term *= -a * a / n;
            sum += term / (2.0 * n + 1.0);
        }
        sum * std::f64::consts::FRAC_2_SQRT_PI
    } else {
        let tail = (1..60).rev().fold(0.0, |f, k| f64::from(k) / 2.0 / (a + f));
        1.0 - (-a * a).exp() / ((a + tail) * std::f64::consts::PI.sqrt())
    };
    value.copysign(x)
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

fn exact_softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

/// The logarithm of the gamma function above 0, by Stirling's series ten places further up.
fn log_gamma(x: f64) -> f64 {
    let z = x + 10.0;
    let series = 1.0 / (12.0 * z) - 1.0 / (360.0 * z.powi(3)) + 1.0 / (1260.0 * z.powi(5)) - 1.0 / (1680.0 * z.powi(7));
    let above = (z - 0.5) * z.ln() - z + 0.5 * std::f64::consts::TAU.ln() + series + 1.0 / (1188.0 * z.powi(9));
    above - (0..10).map(|k| (x + f64::from(k)).ln()).sum::<f64>()
}

/// The inverse of the error function by bisection.
fn exact_erfinv(y: f64) -> f64 {
    let (mut low, mut high) = (-3.0, 3.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if exact_erf(middle) < y { low = middle } else { high = middle }
    }
    (low + high) / 2.0
}

/// The slope of the logarithm of the gamma function above 0, by its asymptotic series twenty places further up.
fn exact_digamma(x: f64) -> f64 {
    let z = x + 20.0;
    let series = 1.0 / (12.0 * z.powi(2)) - 1.0 / (120.0 * z.powi(4)) + 1.0 / (252.0 * z.powi(6));
    z.ln() - 0.5 / z - series - (0..20).map(|k| 1.0 / (x + f64::from(k))).sum::<f64>()
}

macro_rules! check {
    ($($name:ident $vjp:ident $(($($n:literal),*))? $low:literal..$high:literal $f:expr;)*) => { $(
        #[test]
        fn $name() {
            for (n, shape) in SHAPES.iter().enumerate() {
                for x in layouts(shape, $low, $high, n as u64) {
                    let want = Array::of(&x).map($f);
                    let (plain, companion) =
                        (|x: Tensor| x.$name($($($n),*)?), |x: Tensor, want| x.$vjp($($($n,)*)? want));
                    check_unary(&x, &want, plain, companion, |p, ct| pulled(p, ct).0);
                }
            }
        }
    )* };
}

check! {
    neg neg__vjp -2.0..2.0 |x| -x;
    abs abs__vjp 0.1..2.0 f64::abs;
    exp exp__vjp -2.0..2.0 f64::exp;
    log log__vjp 0.2..4.0 f64::ln;
    sqrt sqrt__vjp 0.2..4.0 f64::sqrt;
    rsqrt rsqrt__vjp 0.2..4.0 |x| 1.0 / x.sqrt();
    square square__vjp -2.0..2.0 |x| x * x;
    sin sin__vjp -7.0..7.0 f64::sin;
    cos cos__vjp -7.0..7.0 f64::cos;
    tanh tanh__vjp -3.0..3.0 f64::tanh;
    erf erf__vjp -3.0..3.0 exact_erf;
    sigmoid sigmoid__vjp -6.0..6.0 logistic;
    relu relu__vjp 0.1..2.0 |x| x.max(0.0);
    gelu gelu__vjp -4.0..4.0 |x| 0.5 * x * (1.0 + exact_erf(x / 2f64.sqrt()));
    gelu_tanh gelu_tanh__vjp -4.0..4.0 |x| 0.5 * x * (1.0 + (0.7978845608028654 * (x + 0.044715 * x * x * x)).tanh());
    silu silu__vjp -6.0..6.0 |x| x * logistic(x);
    exp2 exp2__vjp -2.0..2.0 f64::exp2;
    expm1 expm1__vjp -2.0..2.0 f64::exp_m1;
    log1p log1p__vjp -0.5..3.0 f64::ln_1p;
    log2 log2__vjp 0.2..4.0 f64::log2;
    log10 log10__vjp 0.2..4.0 f64::log10;
    reciprocal reciprocal__vjp 0.5..2.0 f64::recip;
    tan tan__vjp -1.0..1.0 f64::tan;
    asin asin__vjp -0.9..0.9 f64::asin;
    acos acos__vjp -0.9..0.9 f64::acos;
    atan atan__vjp -3.0..3.0 f64::atan;
    sinh sinh__vjp -2.0..2.0 f64::sinh;
    cosh cosh__vjp -2.0..2.0 f64::cosh;
    asinh asinh__vjp -3.0..3.0 f64::asinh;
    acosh acosh__vjp 1.3..4.0 f64::acosh;
    atanh atanh__vjp -0.8..0.8 f64::atanh;
    erfc erfc__vjp -2.0..2.0 |x| 1.0 - exact_erf(x);
    erfinv erfinv__vjp -0.9..0.9 exact_erfinv;
    digamma digamma__vjp 0.5..4.0 exact_digamma;
    sinc sinc__vjp 0.1..2.0 |x| (std::f64::consts::PI * x).sin() / (std::f64::consts::PI * x);
    logit logit__vjp 0.1..0.9 |x| (x / (1.0 - x)).ln();
    logit_with logit_with__vjp(0.05) 0.1..0.9 |x| (x / (1.0 - x)).ln();
    deg2rad deg2rad__vjp -200.0..200.0 f64::to_radians;
    rad2deg rad2deg__vjp -4.0..4.0 f64::to_degrees;
    hardshrink hardshrink__vjp(0.5) 0.6..2.0 |x| x;
    softshrink softshrink__vjp(0.5) -2.0..-0.6 |x| x + 0.5;
    tanhshrink tanhshrink__vjp 1.0..3.0 |x| x - x.tanh();
    threshold threshold__vjp(0.5, 3.0) -1.0..0.4 |_| 3.0;
    nan_to_num nan_to_num__vjp -2.0..2.0 |x| x;
    lgamma lgamma__vjp 0.5..4.0 log_gamma;
    logsigmoid logsigmoid__vjp -6.0..6.0 |x| -exact_softplus(-x);
    relu6 relu6__vjp 0.1..5.9 |x| x;
    hardtanh hardtanh__vjp(-1.0, 2.5) -0.9..2.4 |x| x;
    leaky_relu leaky_relu__vjp(0.25) -2.0..-0.1 |x| 0.25 * x;
    elu elu__vjp(0.5) -3.0..-0.1 |x| 0.5 * x.exp_m1();
    celu celu__vjp(2.0) -3.0..-0.1 |x| 2.0 * (x / 2.0).exp_m1();
    selu selu__vjp -3.0..-0.1 |x| 1.050_700_987_355_480_5 * 1.673_263_242_354_377_2 * x.exp_m1();
    mish mish__vjp -6.0..6.0 |x| x * exact_softplus(x).tanh();
    softplus softplus__vjp -6.0..6.0 exact_softplus;
    softplus_with softplus_with__vjp(2.0, 20.0) -3.0..3.0 |x| exact_softplus(2.0 * x) / 2.0;
    softsign softsign__vjp 0.1..3.0 |x| x / (1.0 + x);
    hardswish hardswish__vjp -2.9..2.9 |x| x * (x + 3.0) / 6.0;
    hardsigmoid hardsigmoid__vjp -2.9..2.9 |x| (x + 3.0) / 6.0;
    sign sign__vjp 0.1..2.0 |_| 1.0;
    floor floor__vjp 0.1..0.9 |_| 0.0;
    ceil ceil__vjp 0.1..0.9 |_| 1.0;
    round round__vjp 0.6..0.9 |_| 1.0;
    trunc trunc__vjp 0.1..0.9 |_| 0.0;
    frac frac__vjp 0.1..0.9 |x| x;
}

#[test]
fn glu() {
    for (shape, axis) in [(&[4usize][..], 0), (&[3, 6], -1), (&[2, 5], 0), (&[2, 4, 3], 1), (&[2, 0], 1), (&[2, 0], 0)]
    {
        for x in layouts(shape, -2.0, 2.0, 5) {
            let at = if axis < 0 { shape.len() - 1 } else { axis as usize };
            let (whole, mut half) = (Array::of(&x), shape.to_vec());
            half[at] /= 2;
            let want = Array::from_fn(&half, |i| {
                let mut gate = i.to_vec();
                gate[at] += half[at];
                whole.at(i) * logistic(whole.at(&gate))
            });
            let y = x.clone().glu(axis);
            assert_eq!((y.shape(), y.dtype()), (&half[..], x.dtype()));
            // The gate of a 16-bit tensor is rounded as well.
            near(&y, &want, 3.0 * tolerance(x.dtype()));
            let vjp = |xs: &[Tensor], ct: Tensor| vec![pulled(xs[0].clone().glu__vjp(axis, Want::ALL).1, Some(ct)).0];
            check_grad(|xs| xs[0].clone().glu(axis), vjp, std::slice::from_ref(&x), GradCheck::default());
            assert!(pulled(x.clone().glu__vjp(axis, Want::NONE).1, Some(y.ones_like())).0.is_none());
        }
    }
    assert!(attempt(|| Tensor::ones([3], &cpu()).glu(0)).is_err());
}

#[test]
fn powf() {
    for (n, p) in [0.0, 0.5, 1.0, 2.0, 3.0, -1.0, -0.5, -2.0, 1.7, 5.0].into_iter().enumerate() {
        for shape in SHAPES {
            for x in layouts(shape, 0.5, 2.0, n as u64) {
                let want = Array::of(&x).map(|x| x.powf(p));
                let vjp = |x: Tensor, want: Want| x.powf__vjp(p, want);
                check_unary(&x, &want, |x| x.powf(p), vjp, |p, ct| pulled(p, ct).0);
            }
        }
    }
    let x = Tensor::from_slice(&[-2.0f32, -1.0, 0.0], [3], &cpu());
    assert_eq!(x.clone().powf(3).to_vec(), [-8.0, -1.0, 0.0]);
    assert!(x.powf(1.5).to_vec()[0].is_nan());
}

/// The slopes at kinks, by the companion.
#[track_caller]
fn slopes<P>(vjp: fn(Tensor, Want) -> (Tensor, P), first: fn(P, Option<Tensor>) -> Option<Tensor>, want: &[f32]) {
    let x = Tensor::from_slice(&[-1.0f32, 0.0, -0.0, 1.0], [4], &cpu());
    let (y, pullback) = vjp(x, Want::ALL);
    assert_eq!(first(pullback, Some(y.ones_like())).map(|ct| ct.to_vec()).as_deref(), Some(want));
}

#[test]
fn kinks_are_pytorch_s() {
    slopes(|x, w| x.relu__vjp(w), |p, ct| pulled(p, ct).0, &[0.0, 0.0, 0.0, 1.0]);
    slopes(|x, w| x.abs__vjp(w), |p, ct| pulled(p, ct).0, &[-1.0, 0.0, 0.0, 1.0]);
    slopes(|x, w| x.hardtanh__vjp(-1.0, 1.0, w), |p, ct| pulled(p, ct).0, &[0.0, 1.0, 1.0, 0.0]);
    slopes(|x, w| x.relu6__vjp(w), |p, ct| pulled(p, ct).0, &[0.0, 0.0, 0.0, 1.0]);
    slopes(|x, w| x.leaky_relu__vjp(0.25, w), |p, ct| pulled(p, ct).0, &[0.25, 0.25, 0.25, 1.0]);
    slopes(|x, w| x.softsign__vjp(w), |p, ct| pulled(p, ct).0, &[0.25, 1.0, 1.0, 0.25]);
}

/// Values and slopes where an exponential would overflow.
#[test]
fn activations_are_finite_far_out() {
    let far = [-1e4f32, -100.0, 100.0, 1e4];
    macro_rules! far {
        ($($vjp:ident($($n:literal),*): $values:expr, $slopes:expr;)*) => { $(
            let (y, pullback) = Tensor::from_slice(&far, [4], &cpu()).$vjp($($n,)* Want::ALL);
            close(&y, &Array { shape: vec![4], data: $values.to_vec() });
            let ct = pulled(pullback, Some(y.ones_like())).0.expect("a slope");
            close(&ct, &Array { shape: vec![4], data: $slopes.to_vec() });
        )* };
    }
    let (rising, ramp) = ([0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 100.0, 1e4]);
    far! {
        mish__vjp(): ramp, rising;
        silu__vjp(): ramp, rising;
        gelu__vjp(): ramp, rising;
        gelu_tanh__vjp(): ramp, rising;
        softplus__vjp(): ramp, rising;
        softplus_with__vjp(0.5, 10.0): ramp, rising;
        hardswish__vjp(): ramp, rising;
        elu__vjp(0.5): [-0.5, -0.5, 100.0, 1e4], rising;
        celu__vjp(2.0): [-2.0, -2.0, 100.0, 1e4], rising;
        logsigmoid__vjp(): [-1e4, -100.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0];
        hardsigmoid__vjp(): rising, [0.0; 4];
        tanh__vjp(): [-1.0, -1.0, 1.0, 1.0], [0.0; 4];
        leaky_relu__vjp(0.5): [-5e3, -50.0, 100.0, 1e4], [0.5, 0.5, 1.0, 1.0];
    }
}

#[test]
fn whole_numbers_are_pytorch_s() {
    let x = Tensor::from_slice(&[-1.5f32, -0.5, 0.5, 1.5, 2.5], [5], &cpu());
    assert_eq!(x.clone().round().to_vec(), [-2.0, 0.0, 0.0, 2.0, 2.0]);
    assert_eq!(x.clone().floor().to_vec(), [-2.0, -1.0, 0.0, 1.0, 2.0]);
    assert_eq!(x.clone().ceil().to_vec(), [-1.0, 0.0, 1.0, 2.0, 3.0]);
    assert_eq!(x.clone().trunc().to_vec(), [-1.0, 0.0, 0.0, 1.0, 2.0]);
    assert_eq!(x.clone().frac().to_vec(), [-0.5, -0.5, 0.5, 0.5, 0.5]);
    assert_eq!(x.sign().to_vec(), [-1.0, -1.0, 1.0, 1.0, 1.0]);
}

#[test]
fn special_values_pass() {
    let x = Tensor::from_slice(&[f32::NAN, f32::INFINITY, f32::NEG_INFINITY], [3], &cpu());
    let nan = f64::NAN;
    let inf = f64::INFINITY;
    let check = |y: Tensor, want: [f64; 3]| exact(&y, &Array { shape: vec![3], data: want.to_vec() });
    check(x.clone().relu(), [nan, inf, 0.0]);
    check(x.clone().exp(), [nan, inf, 0.0]);
    check(x.clone().sigmoid(), [nan, 1.0, 0.0]);
    check(x.clone().tanh(), [nan, 1.0, -1.0]);
    check(x.clone().erf(), [nan, 1.0, -1.0]);
    check(x.clone().log(), [nan, inf, nan]);
    check(x.abs(), [nan, inf, inf]);
}

#[test]
fn a_unique_buffer_is_reused_and_a_shared_one_is_not() {
    let x = Tensor::ones([5], &cpu());
    let kept = x.clone();
    let y = x.exp().neg().exp();
    assert_eq!(kept.to_vec(), [1.0; 5]);
    close(&y, &Array { shape: vec![5], data: vec![(-1f64.exp()).exp(); 5] });
}
