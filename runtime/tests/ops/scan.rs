use crate::reference::{Array, SHAPES, check_unary, cpu, exact, index, layouts, near, pulled, random, tolerance};
use cotangent_runtime::diff::Want;
use cotangent_runtime::testing::{GradCheck, check_grad};
use cotangent_runtime::{DType, Error, Int, Tensor, attempt};

/// Applies `f` to each line of `x` along an axis.
pub(crate) fn along(x: &Array, axis: usize, f: impl Fn(&[f64]) -> Vec<f64>) -> Array {
    let mut out = x.clone();
    for n in 0..x.data.len() {
        if index(n, &x.shape)[axis] != 0 {
            continue;
        }
        let step: usize = x.shape[axis + 1..].iter().product();
        let line: Vec<f64> = (0..x.shape[axis]).map(|i| x.data[n + i * step]).collect();
        for (i, v) in f(&line).into_iter().enumerate() {
            out.data[n + i * step] = v;
        }
    }
    out
}

fn running(line: &[f64], start: f64, f: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    line.iter().scan(start, |s, &v| Some((*s = f(*s, v), *s).1)).collect()
}

#[test]
fn running_sums_products_and_logarithms() {
    for (n, shape) in SHAPES.iter().enumerate().filter(|(_, shape)| !shape.is_empty()) {
        for axis in 0..shape.len() {
            for x in layouts(shape, 0.5, 1.4, n as u64) {
                let (given, back) = (Array::of(&x), axis as isize - shape.len() as isize);
                let want = along(&given, axis, |l| running(l, 0.0, |s, v| s + v));
                let vjp = |x: Tensor, w: Want| x.cumsum__vjp(back, w);
                check_unary(&x, &want, |x| x.cumsum(axis as isize), vjp, |p, ct| pulled(p, ct).0);
                let want = along(&given, axis, |l| running(l, 1.0, |s, v| s * v));
                let vjp = |x: Tensor, w: Want| x.cumprod__vjp(back, w);
                check_unary(&x, &want, |x| x.cumprod(axis as isize), vjp, |p, ct| pulled(p, ct).0);
                let want = along(&given, axis, |l| running(l, 0.0, |s, v| s + v.exp())).map(f64::ln);
                let vjp = |x: Tensor, w: Want| x.logcumsumexp__vjp(back, w);
                check_unary(&x, &want, |x| x.logcumsumexp(axis as isize), vjp, |p, ct| pulled(p, ct).0);
            }
        }
    }
}

#[test]
fn running_extremes_and_their_places() {
    for (n, shape) in SHAPES.iter().enumerate().filter(|(_, shape)| !shape.is_empty()) {
        for axis in 0..shape.len() {
            for x in layouts(shape, -1.0, 1.0, n as u64) {
                let given = Array::of(&x);
                let check = |(y, at): (Tensor, Tensor<Int>), takes: fn(f64, f64) -> bool| {
                    let places = |l: &[f64]| -> Vec<f64> {
                        let last = |best: usize, i: usize| if takes(l[i], l[best]) { i } else { best };
                        (0..l.len()).scan(0, |best, i| Some((*best = last(*best, i), *best as f64).1)).collect()
                    };
                    exact(&y, &along(&given, axis, |l| places(l).iter().map(|&i| l[i as usize]).collect()));
                    let places = along(&given, axis, places);
                    assert_eq!(at.to_vec(), places.data.iter().map(|&i| i as i64).collect::<Vec<_>>());
                };
                check(x.clone().cummax(axis as isize), |a, b| a >= b);
                check(x.cummin(axis as isize), |a, b| a <= b);
            }
        }
    }
    let nan = Tensor::from_slice(&[1.0f32, f32::NAN, 2.0, f32::NAN, 5.0], [5], &cpu());
    let (y, at) = nan.cummax(0);
    assert!(y.to_vec()[0] == 1.0 && y.to_vec()[1..].iter().all(|v| v.is_nan()));
    assert_eq!(at.to_vec(), [0, 1, 1, 3, 3]);
    let (_, p) = Tensor::from_slice(&[1.0f32, 3.0, 3.0, 2.0], [4], &cpu()).cummax__vjp(0, Want::ALL);
    let ct = Tensor::from_slice(&[1.0f32; 4], [4], &cpu());
    assert_eq!(pulled(p, (Some(ct), ())).0.map(|d| d.to_vec()), Some(vec![1.0, 1.0, 2.0, 0.0]));
    let x = random(&[3, 40], 0.0, 10.0, 2).transpose(0, 1);
    check_grad(
        |xs| xs[0].clone().cummin(0).0,
        |xs, ct| vec![pulled(xs[0].clone().cummin__vjp(0, Want::ALL).1, (Some(ct), ())).0],
        &[x],
        GradCheck { step: 1e-5, ..GradCheck::default() },
    );
}

#[test]
fn zeros_in_running_products_have_gradients() {
    for (values, slopes) in [
        ([2.0f32, 0.0, 3.0, 0.0, 2.0], [1.0f32, 8.0, 0.0, 0.0, 0.0]),
        ([0.0, 2.0, 3.0, 1.0, 1.0], [21.0, 0.0, 0.0, 0.0, 0.0]),
        ([1.0, 2.0, 3.0, 4.0, 0.0], [33.0, 16.0, 10.0, 6.0, 24.0]),
    ] {
        let (y, p) = Tensor::from_slice(&values, [5], &cpu()).cumprod__vjp(0, Want::ALL);
        assert_eq!(pulled(p, Some(y.ones_like())).0.map(|d| d.to_vec()), Some(slopes.to_vec()));
    }
}

#[test]
fn long_sums_are_cut_into_blocks() {
    for shape in [&[70_003][..], &[2, 20_001], &[20_000, 3]] {
        for x in layouts(shape, -0.5, 1.0, 5) {
            for axis in 0..shape.len() {
                let want = along(&Array::of(&x), axis, |l| running(l, 0.0, |s, v| s + v));
                near(&x.clone().cumsum(axis as isize), &want, tolerance(x.dtype()));
                let ct = pulled(x.clone().cumsum__vjp(axis as isize, Want::ALL).1, Some(x.clone())).0;
                let back = along(&Array::of(&x), axis, |l| {
                    let line: Vec<f64> = l.iter().rev().copied().collect();
                    running(&line, 0.0, |s, v| s + v).into_iter().rev().collect()
                });
                near(&ct.expect("a cotangent"), &back, tolerance(x.dtype()));
            }
        }
    }
}

#[test]
fn long_integers_and_extremes_are_cut_into_blocks() {
    let values: Vec<i64> = (0..2 * 20_001i64).map(|i| i * 7_919_777 % 1013 - 500 + i / 50).collect();
    let x = Tensor::<Int>::from_slice(&values, [2, 20_001], &cpu());
    let y = x.clone().cumsum(1).to_vec();
    let of = |f: fn(i64, i64) -> i64, start: i64| -> Vec<i64> {
        let line = |l: &[i64]| l.iter().scan(start, |s, &v| Some((*s = f(*s, v), *s).1)).collect::<Vec<_>>();
        values.chunks(20_001).flat_map(line).collect()
    };
    assert_eq!(y, of(i64::wrapping_add, 0));
    assert_eq!(x.clone().cumprod(-1).to_vec(), of(i64::wrapping_mul, 1));
    let last = |takes: fn(i64, i64) -> bool| -> Vec<i64> {
        let line = |l: &[i64]| {
            let later = |best: usize, i: usize| if takes(l[i], l[best]) { i } else { best };
            (0..l.len()).scan(0, |best, i| Some((*best = later(*best, i), *best as i64).1)).collect::<Vec<_>>()
        };
        values.chunks(20_001).flat_map(line).collect()
    };
    let floats = x.clone().float();
    let (y, at) = x.clone().cummax(1);
    assert_eq!((y.to_vec(), at.to_vec()), (of(i64::max, i64::MIN), last(|a, b| a >= b)));
    assert_eq!(floats.clone().cummax(1).1.to_vec(), at.to_vec());
    let (y, at) = x.cummin(1);
    assert_eq!((y.to_vec(), at.to_vec()), (of(i64::min, i64::MAX), last(|a, b| a <= b)));
    assert_eq!(floats.cummin(1).1.to_vec(), at.to_vec());
    let mut late = vec![0.0f32; 30_000];
    late[17_000] = f32::NAN;
    let (y, at) = Tensor::from_slice(&late, [30_000], &cpu()).cummin(0);
    assert!(y.to_vec()[16_999] == 0.0 && y.to_vec()[17_000..].iter().all(|v| v.is_nan()));
    assert_eq!((at.to_vec()[16_999], at.to_vec()[29_999]), (16_999, 17_000));
}

#[test]
fn integers_run_too() {
    let x = Tensor::from_slice(&[3i64, -1, 4, 1, -5, 9], [2, 3], &cpu());
    for dtype in [DType::I64, DType::I32] {
        let x = x.clone().to(dtype);
        let sums = x.clone().cumsum(1);
        assert_eq!((sums.to_vec(), sums.dtype()), (vec![3, 2, 6, 1, -4, 5], DType::I64));
        assert_eq!(x.clone().cumprod(0).to_vec(), [3, -1, 4, 3, 5, 36]);
        let (y, at) = x.clone().cummax(0);
        assert_eq!((y.to_vec(), at.to_vec(), y.dtype()), (vec![3, -1, 4, 3, -1, 9], vec![0, 0, 0, 0, 0, 1], dtype));
    }
    assert_eq!(Tensor::from_slice(&[i64::MAX, 1], [2], &cpu()).cumsum(0).to_vec(), [i64::MAX, i64::MIN]);
}

#[test]
fn logarithms_at_their_limits() {
    let inf = f32::INFINITY;
    let x = Tensor::from_slice(&[-inf, -inf, 1.0, -inf, 1e4, inf, inf, 0.0], [8], &cpu());
    let (y, p) = x.logcumsumexp__vjp(0, Want::ALL);
    assert_eq!(y.to_vec(), [-inf, -inf, 1.0, 1.0, 1e4, inf, inf, inf]);
    let dx = pulled(p, Some(y.ones_like())).0.map(|d| d.to_vec()).unwrap_or_default();
    assert!(dx.iter().all(|v| v.is_finite()) && dx[..2] == [0.0, 0.0], "{dx:?}");
}

#[test]
fn scalars_and_missing_axes() {
    let x = Tensor::scalar(3.0f32, &cpu());
    assert_eq!((x.clone().cumsum(0).item(), x.clone().cumprod(-1).item(), x.clone().cummax(0).1.item()), (3.0, 3.0, 0));
    assert!(matches!(attempt(|| x.cumsum(1)), Err(Error::Argument { .. })));
    assert_eq!(random(&[3, 0], 0.0, 1.0, 1).cummin(1).1.shape(), [3, 0]);
}
