use crate::reference::{Array, SHAPES, check_unary, close, cpu, exact, layouts, pulled};
use cotangent_runtime::Tensor;
use cotangent_runtime::diff::Want;

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

macro_rules! check {
    ($($name:ident $vjp:ident $low:literal..$high:literal $f:expr;)*) => { $(
        #[test]
        fn $name() {
            for (n, shape) in SHAPES.iter().enumerate() {
                for x in layouts(shape, $low, $high, n as u64) {
                    let want = Array::of(&x).map($f);
                    check_unary(&x, &want, Tensor::$name, Tensor::$vjp, |p, ct| pulled(p, ct).0);
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
