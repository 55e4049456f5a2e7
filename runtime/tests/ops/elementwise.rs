//! Functions of two and more operands: floats against plain formulas in `f64`, integers exactly.

use crate::reference::{Array, broadcast, check_unary, close, cpu, layouts, pulled, random};
use cotangent_runtime::diff::{Pullback, Want};
use cotangent_runtime::ops::{self, RemVjp};
use cotangent_runtime::testing::{GradCheck, check_grad};
use cotangent_runtime::{DType, Error, Int, Tensor, attempt};

/// Pairs of shapes that broadcast.
const PAIRS: &[[&[usize]; 2]] =
    &[[&[], &[]], [&[], &[4]], [&[3, 1], &[1, 4]], [&[2, 3, 4], &[3, 1]], [&[0, 3], &[3]], [&[9, 40], &[40]]];

macro_rules! pairs {
    ($($name:ident $vjp:ident $a:tt $b:tt $f:expr;)*) => { $(
        #[test]
        fn $name() {
            let f: fn(f64, f64) -> f64 = $f;
            let ((al, ah), (bl, bh)) = ($a, $b);
            for (n, [sa, sb]) in PAIRS.iter().enumerate() {
                let seconds = layouts(sb, bl, bh, n as u64 + 100);
                for (k, a) in layouts(sa, al, ah, n as u64).into_iter().enumerate() {
                    let b = seconds[k % seconds.len()].clone();
                    check(&a, &b, f, |a, b| a.$name(b), |a, b, w| {
                        let (y, p) = a.$vjp(b, w);
                        (y, move |ct| pulled(p, ct))
                    });
                }
            }
            for x in layouts(&[3, 4], al, ah, 3) {
                let n = f64::from((bl + bh) / 2.0);
                check_unary(
                    &x,
                    &Array::of(&x).map(|x| f(x, n)),
                    |x| x.$name(n),
                    |x, want| x.$vjp(n, want),
                    |p, ct| pulled(p, ct).0,
                );
            }
        }
    )* };
}

type Cts = (Option<Tensor>, Option<Tensor>);

#[track_caller]
fn check<P: FnOnce(Option<Tensor>) -> Cts>(
    a: &Tensor,
    b: &Tensor,
    f: fn(f64, f64) -> f64,
    op: impl Fn(Tensor, Tensor) -> Tensor,
    vjp: impl Fn(Tensor, Tensor, Want) -> (Tensor, P),
) {
    let (na, nb) = (Array::of(a), Array::of(b));
    let want = Array::from_fn(&broadcast(a.shape(), b.shape()), |i| f(na.at(i), nb.at(i)));
    close(&op(a.clone(), b.clone()), &want);
    let (y, pull) = vjp(a.clone(), b.clone(), Want::SELF);
    close(&y, &want);
    assert!(pull(Some(y.ones_like())).1.is_none(), "an unwanted cotangent is none");
    check_grad(
        |xs| op(xs[0].clone(), xs[1].clone()),
        |xs, ct| {
            let (da, db) = vjp(xs[0].clone(), xs[1].clone(), Want::ALL).1(Some(ct));
            vec![da, db]
        },
        &[a.clone(), b.clone()],
        GradCheck { most: 6, ..GradCheck::default() },
    );
}

pairs! {
    atan2 atan2__vjp (0.5, 1.0) (-1.5, -0.5) f64::atan2;
    hypot hypot__vjp (0.5, 1.0) (-1.5, -0.5) f64::hypot;
    copysign copysign__vjp (0.5, 1.0) (-1.5, -0.5) f64::copysign;
    logaddexp logaddexp__vjp (-1.0, 1.0) (-2.0, 2.0) |a, b| (a.exp() + b.exp()).ln();
    xlogy xlogy__vjp (0.5, 1.0) (0.5, 2.0) |a, b| a * b.ln();
    pow pow__vjp (0.5, 1.5) (-1.5, 2.5) f64::powf;
    remainder remainder__vjp (5.1, 5.4) (-1.6, -1.5) |a, b| a - b * (a / b).floor();
    fmod fmod__vjp (5.1, 5.4) (-1.6, -1.5) |a, b| a % b;
    floor_divide floor_divide__vjp (5.1, 5.4) (-1.6, -1.5) |a, b| (a / b).floor();
    clamp_min clamp_min__vjp (0.0, 0.9) (1.0, 2.0) f64::max;
    clamp_max clamp_max__vjp (1.0, 2.0) (0.0, 0.9) f64::min;
}

#[test]
fn three_and_four_operands() {
    for x in layouts(&[3, 4], 0.5, 1.0, 1) {
        let (a, b) = (random(&[4], 1.5, 2.5, 2), random(&[3, 1], 3.0, 4.0, 3));
        let (ax, aa, ab) = (Array::of(&x), Array::of(&a), Array::of(&b));
        let want = |f: fn(f64, f64, f64) -> f64| Array::from_fn(&[3, 4], |i| f(ax.at(i), aa.at(i), ab.at(i)));
        let wide = x.clone().float();
        close(&wide.clone().lerp(&a, &b), &want(|x, a, b| x + b * (a - x)));
        close(&wide.clone().addcmul(&a, &b, 0.5), &want(|x, a, b| x + 0.5 * a * b));
        close(&wide.clone().addcdiv(&a, &b, 0.5), &want(|x, a, b| x + 0.5 * a / b));
        close(&(wide * 3.0).clamp(&a, &b), &want(|x, a, b| (3.0 * x).max(a).min(b)));
        close(&x.clone().lerp(2.0, 0.25), &ax.map(|x| x + 0.25 * (2.0 - x)));
        check_grad(
            |xs| xs[0].clone().lerp(&xs[1], &xs[2]).addcmul(&xs[1], &xs[2], 0.5).addcdiv(&xs[1], &xs[2], 2),
            |xs, ct| {
                let (a, b) = (&xs[1], &xs[2]);
                let (y, first) = xs[0].clone().lerp__vjp(a, b, Want::ALL);
                let (y, second) = y.addcmul__vjp(a, b, 0.5, Want::ALL);
                let (_, third) = y.addcdiv__vjp(a, b, 2, Want::ALL);
                let (ct, a3, b3, ()) = pulled(third, Some(ct));
                let (ct, a2, b2, ()) = pulled(second, ct);
                let (dx, a1, b1) = pulled(first, ct);
                let sum = |parts: [Option<Tensor>; 3]| parts.into_iter().flatten().reduce(|a, b| a + b);
                vec![dx, sum([a1, a2, a3]), sum([b1, b2, b3])]
            },
            &[x.clone().double(), a.double(), b.double()],
            GradCheck::default(),
        );
    }
}

#[test]
fn clamping_at_the_bounds() {
    let slopes = |p: &dyn Fn(Tensor) -> Option<Tensor>| p(floats(&[1.0; 5])).map(|d| d.to_vec());
    let x = floats(&[-2.0, -1.0, 0.0, 1.0, 2.0]);
    let y = x.clone().clamp(-1, 1.0);
    assert_eq!(y.to_vec(), [-1.0, -1.0, 0.0, 1.0, 1.0]);
    let by_numbers = |ct: Tensor| pulled(x.clone().clamp__vjp(-1, 1.0, Want::ALL).1, Some(ct)).0;
    assert_eq!(slopes(&by_numbers), Some(vec![0.0, 0.0, 1.0, 0.0, 0.0]));
    let (low, high) = (Tensor::scalar(-1.0, &cpu()), floats(&[1.0; 5]));
    let by_tensors = |ct: Tensor| pulled(x.clone().clamp__vjp(&low, &high, Want::ALL).1, Some(ct));
    assert_eq!(slopes(&|ct| by_tensors(ct).0), Some(vec![0.0, 0.5, 1.0, 0.5, 0.0]));
    assert_eq!(by_tensors(floats(&[1.0; 5])).1.map(|d| d.item()), Some(1.5));
    assert_eq!(x.clone().clamp(1.0, -1.0).to_vec(), [-1.0; 5]);
    let nan = |t: Tensor| t.to_vec().iter().all(|v| v.is_nan());
    assert!(nan(floats(&[f32::NAN]).clamp(0, 1)) && nan(x.clone().clamp(f64::NAN, 1.0)));
    assert!(nan(x.clamp_max(Tensor::scalar(f32::NAN, &cpu()))));
    assert_eq!(ints(&[-5, 0, 5]).clamp(-1, 3).to_vec(), [-1, 0, 3]);
    assert_eq!(ints(&[-5, 5]).clamp_min(ints(&[0, 7])).to_vec(), [0, 7]);
}

#[test]
fn powers_of_numbers_and_integers() {
    let x = random(&[3], 0.5, 1.5, 1);
    close(&ops::pow(2.0, x.clone()), &Array::of(&x).map(f64::exp2));
    check_grad(
        |xs| ops::pow(2.0, xs[0].clone()) + ops::pow(xs[0].clone(), xs[0].clone()),
        |xs, ct| {
            let (number, tensors) = (
                ops::pow::vjp(2.0, xs[0].clone(), Want::ALL).1,
                ops::pow::vjp(xs[0].clone(), xs[0].clone(), Want::ALL).1,
            );
            let ((), first) = pulled(number, Some(ct.clone()));
            let (base, exponent) = pulled(tensors, Some(ct));
            vec![[first, base, exponent].into_iter().flatten().reduce(|a, b| a + b)]
        },
        std::slice::from_ref(&x),
        GradCheck::default(),
    );
    assert_eq!(ints(&[2, -3, 0]).pow(3).to_vec(), [8, -27, 0]);
    assert_eq!(ints(&[2, -1, 1, 3]).pow(ints(&[-1, -3, -2, 40])).to_vec(), [0, -1, 1, 3i64.pow(39).wrapping_mul(3)]);
    let error = attempt(|| ints(&[2]).pow(-1)).unwrap_err().to_string();
    assert!(error.starts_with("pow: the exponent is -1"), "{error}");
}

fn floats(values: &[f32]) -> Tensor {
    Tensor::from_slice(values, [values.len()], &cpu())
}

fn ints(values: &[i64]) -> Tensor<Int> {
    Tensor::from_slice(values, [values.len()], &cpu())
}

#[test]
fn integers_divide_as_in_python() {
    let (a, b) = (ints(&[7, -7, 7, -7]), ints(&[3, 3, -3, -3]));
    assert_eq!((&a % &b).to_vec(), [1, 2, -2, -1]);
    assert_eq!(a.clone().remainder(3).to_vec(), [1, 2, 1, 2]);
    assert_eq!((7 % &b).to_vec(), [1, 1, -2, -2]);
    assert_eq!(a.clone().fmod(&b).to_vec(), [1, -1, 1, -1]);
    assert_eq!(a.clone().floor_divide(&b).to_vec(), [2, -3, -3, 2]);
    assert_eq!(ints(&[i64::MIN]).floor_divide(-1).to_vec(), [i64::MIN]);
    let halves = &a / 2;
    assert_eq!((halves.dtype(), halves.to_vec()), (DType::F32, vec![3.5, -3.5, 3.5, -3.5]));
    assert_eq!((a.clone() / b.clone()).to_vec()[1], -7.0 / 3.0);
    assert_eq!(ints(&[1]).div(0).item(), f32::INFINITY);
    let u8s = ints(&[250, 7]).to(DType::U8);
    let rest = u8s.clone() % 100;
    assert_eq!((rest.dtype(), rest.to_vec()), (DType::U8, vec![50, 7]));
    assert_eq!((u8s * 2).to_vec(), [244, 14]);
    let divisions: [fn(Tensor<Int>) -> Tensor<Int>; 4] =
        [|a| a % 0, |a| a.fmod(0), |a| a.floor_divide(ints(&[1, 0, 2, 0])), |a| 1 % (a - 7)];
    for f in divisions {
        let Err(Error::Argument { op, message }) = attempt(|| f(a.clone())) else { panic!("a division by 0") };
        assert!(["remainder", "fmod", "floor_divide"].contains(&&op[..]), "{op}");
        assert!(message.contains("cannot be divided by 0"), "{message}");
    }
    assert_eq!((ints(&[]) % ints(&[])).shape(), [0]);
}

#[test]
fn integers_have_the_functions_of_numbers() {
    let n = ints(&[-3, 0, 2]);
    assert_eq!(n.clone().abs().to_vec(), [3, 0, 2]);
    assert_eq!(n.clone().neg().to_vec(), [3, 0, -2]);
    assert_eq!(n.clone().sign().to_vec(), [-1, 0, 1]);
    assert_eq!(n.clone().square().to_vec(), [9, 0, 4]);
    assert_eq!(n.clone().relu().to_vec(), [0, 0, 2]);
    assert_eq!(n.clone().maximum(1).to_vec(), [1, 1, 2]);
    assert_eq!(n.clone().minimum(ints(&[0])).to_vec(), [-3, 0, 0]);
    assert_eq!(n.clone().add(1).sub(&n).mul(2).to_vec(), [2, 2, 2]);
    assert_eq!(ints(&[i64::MIN]).abs().to_vec(), [i64::MIN]);
}

#[test]
fn floats_divide_as_in_python() {
    let (a, b) = (floats(&[7.0, -7.0, 1.0, -1.0]), floats(&[2.0, 2.0, 0.1, f32::INFINITY]));
    assert_eq!(a.clone().floor_divide(&b).to_vec(), [3.0, -4.0, 9.0, -1.0]);
    assert_eq!((&a % 2.5).to_vec(), [2.0, 0.5, 1.0, 1.5]);
    assert_eq!((5.5 % floats(&[2.0])).to_vec(), [1.5]);
    let (y, p) = RemVjp::rem__vjp(a, b, Want::ALL);
    assert!(y.to_vec()[0] == 1.0 && pulled(p, Some(y)).0.is_some());
    assert_eq!(floats(&[1.0, -1.0]).floor_divide(0.0).to_vec(), [f32::INFINITY, f32::NEG_INFINITY]);
}

#[test]
fn one_weight_a_channel() {
    for (n, shape) in [&[2, 3, 4][..], &[2, 3], &[0, 3, 2]].iter().enumerate() {
        for x in layouts(shape, -1.0, 1.0, n as u64) {
            let weight = random(&[3], 0.1, 0.5, 9).to(x.dtype());
            let (ax, aw) = (Array::of(&x), Array::of(&weight));
            let want = Array::from_fn(shape, |i| ax.at(i).max(0.0) + aw.data[i[1]] * ax.at(i).min(0.0));
            close(&x.clone().prelu(weight.clone()), &want);
            // Away from 0, where the slope jumps.
            let moved = x.clone() + x.clone().sign();
            check_grad(
                |xs| xs[0].clone().prelu(xs[1].clone()),
                |xs, ct| {
                    let (dx, dw) = pulled(xs[0].clone().prelu__vjp(xs[1].clone(), Want::ALL).1, Some(ct));
                    vec![dx, dw]
                },
                &[moved, weight],
                GradCheck::default(),
            );
        }
    }
    assert_eq!(floats(&[-2.0, 2.0]).prelu(floats(&[0.5])).to_vec(), [-1.0, 2.0]);
    let error = attempt(|| random(&[2, 3], 0.0, 1.0, 1).prelu(floats(&[0.1, 0.2]))).unwrap_err().to_string();
    assert!(error.contains("[2]") && error.contains("[2, 3]"), "{error}");
}

#[test]
fn numbers_in_place_of_nan_and_infinities() {
    let (nan, inf) = (f32::NAN, f32::INFINITY);
    let x = floats(&[nan, inf, -inf, 1.5]);
    assert_eq!(x.clone().nan_to_num().to_vec(), [0.0, f32::MAX, f32::MIN, 1.5]);
    assert_eq!(x.clone().half().nan_to_num().to_vec(), [0.0, 65504.0, -65504.0, 1.5]);
    let (y, p) = x.nan_to_num_with__vjp(1.0, 2.0, 3, Want::ALL);
    assert_eq!(y.to_vec(), [1.0, 2.0, 3.0, 1.5]);
    assert_eq!(pulled(p, Some(floats(&[1.0; 4]))).0.map(|d| d.to_vec()), Some(vec![0.0, 0.0, 0.0, 1.0]));
}

#[test]
fn aliases_and_softmin() {
    let x = floats(&[-2.0, 0.0, 1.0]);
    assert_eq!(x.clone().sgn().to_vec(), x.clone().sign().to_vec());
    assert_eq!(x.clone().positive().to_vec(), x.to_vec());
    assert!(x.clone().softmin(0).allclose((-x.clone()).softmax(0), 0.0, 0.0));
    check_grad(
        |xs| xs[0].clone().softmin(-1),
        |xs, ct| vec![pulled(xs[0].clone().softmin__vjp(-1, Want::ALL).1, Some(ct)).0],
        &[x],
        GradCheck::default(),
    );
    let (_, p) = floats(&[1.0]).positive__vjp(Want::NONE);
    assert!(p.pull(Some(floats(&[1.0])), &mut ()).0.is_none());
}
