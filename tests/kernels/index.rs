//! Kernels in index notation.

use cotangent::diff::{Pullback, Want};
use cotangent::prelude::*;
use cotangent::testing::{GradCheck, check_grad};

/// Root-mean-square normalisation over the last axis.
#[kernel]
fn rms_norm(x: Tensor![R.., C], w: Tensor![C], eps: f32) -> Tensor![R.., C] {
    |r, i| {
        let ms = mean(|j| x[r][j] * x[r][j]);
        x[r][i] * rsqrt(ms + eps) * w[i]
    }
}

/// Gradient descent with momentum.
#[kernel]
fn descend(w: &mut Tensor![N..], m: &mut Tensor![N..], g: Tensor![N..], lr: f32, beta: f32) {
    |i| {
        m[i] = beta * m[i] + g[i];
        w[i] = w[i] - lr * m[i];
    }
}

#[model(dims(C))]
struct Normed {
    fc: Linear![C => C],
    #[init(ones)]
    w: Param![C],
}

#[model]
impl Normed {
    fn loss(&self, x: Tensor![B, T, C]) -> Tensor![] {
        rms_norm(self.fc.forward(x), self.w, 1e-5).square().mean(..)
    }
}

#[test]
fn norms() {
    let device = Device::cpu();
    let x = Tensor::randn([2, 3, 70], &mut Rng::seed(3), &device);
    let w = Tensor::randn([70], &mut Rng::seed(4), &device);
    let y = rms_norm(x.clone(), w.clone(), 1e-5);
    let ms = x.clone().square().mean_keepdim(-1);
    let expected = x.clone() * (ms + 1e-5).rsqrt() * w;
    for (a, b) in y.to_vec().iter().zip(expected.to_vec()) {
        assert!((a - b).abs() < 1e-5, "{a} {b}");
    }
    let model = Normed::init(NormedConfig::new(70), &mut Rng::seed(1), &device);
    let (loss, grads) = model.loss_grad(x);
    assert!(loss.item() > 0.0 && grads.w.is_some() && grads.fc.weight.is_some());
}

#[test]
fn updates_in_place() {
    let device = Device::cpu();
    let (mut w, mut m) = (Tensor::ones([4, 3], &device), Tensor::zeros([4, 3], &device));
    let g = Tensor::full([4, 3], 2.0f32, &device);
    descend(&mut w, &mut m, g.clone(), 0.1, 0.9);
    descend(&mut w, &mut m, g, 0.1, 0.9);
    assert!(w.to_vec().iter().all(|v| (v - (1.0 - 0.2 - 0.38)).abs() < 1e-6), "{w}");
    // Another handle keeps what it has, and a half tensor stays one.
    let before = w.clone();
    let g = Tensor::full([4, 3], 2.0f32, &device);
    descend(&mut w, &mut m, g.clone(), 0.1, 0.9);
    assert!(before.to_vec().iter().all(|v| (v - 0.42).abs() < 1e-6) && w.to_vec()[0] < 0.0);
    let (mut w, mut m) = (w.to(DType::BF16), Tensor::zeros([4, 3], &device).permute([0, 1]));
    descend(&mut w, &mut m, g, 0.1, 0.9);
    assert_eq!((w.dtype(), m.dtype()), (DType::BF16, DType::F32));
}

/// Every second difference of windows.
#[kernel]
fn windows(x: Tensor![N]) -> Tensor![(N - 1) / 2] {
    |i| x[2 * i] - 2.0 * x[2 * i + 1] + x[2 * i + 2]
}

/// The rows of a table.
#[kernel]
fn rows(table: Tensor![V, C], ids: Tensor![Int; T]) -> Tensor![T, C] {
    |t, c| table[ids[t]][c]
}

#[test]
fn errors_name_what_was_given() {
    let device = Device::cpu();
    let error = |f: &dyn Fn() -> Tensor| cotangent::attempt(f).map(|_| ()).unwrap_err().to_string();
    let odd = error(&|| windows(Tensor::ones([6], &device)));
    assert_eq!(odd, "windows: a quotient in the dims of `y` leaves a remainder for the shapes [[6]]");
    assert_eq!(windows(Tensor::ones([7], &device)).shape(), [3]);
    let table = Tensor::ones([4, 2], &device);
    let ids = Tensor::<Int>::from_slice(&[0, 4], [2], &device);
    let outside = error(&|| rows(table.clone(), ids.clone()));
    assert_eq!(outside, "rows: the ids 4 at [1] is out of range: axis 0 of `table` is 4, expected 0 <= ids < 4");
    let wrong = error(&|| rms_norm(Tensor::ones([2, 3], &device), Tensor::ones([4], &device), 0.1));
    assert_eq!(
        wrong,
        "rms_norm: axis 0 of `w` is 4, expected 3: it is [4], and the rest of the signature asks for [3]"
    );
    let flat = error(&|| rms_norm(Tensor::ones((), &device), Tensor::ones([4], &device), 0.1));
    assert_eq!(flat, "rms_norm: `x` is []: 0 axes, expected at least 1");
}

const TAPS: usize = 3;

/// Constants that rustc evaluates, in a path, in arithmetic, and as the result's alone.
#[kernel]
fn taps(x: Tensor![R.., N], w: Tensor![{ TAPS }]) -> Tensor![R.., N - { TAPS } + 1, { 2 * TAPS }] {
    |r, i, j| (j + 1) * sum(|k| x[r][i + k] * w[k])
}

#[test]
fn constants_as_dims() {
    let device = Device::cpu();
    let (x, w) = (Tensor::randn([2, 5], &mut Rng::seed(1), &device), Tensor::randn([3], &mut Rng::seed(2), &device));
    let y = taps(x.clone(), w.clone());
    assert_eq!(y.shape(), [2, 3, 6]);
    let (xs, ws) = (x.to_vec(), w.to_vec());
    let first: f32 = (0..3).map(|k| xs[5 + 1 + k] * ws[k]).sum();
    let at = (3 + 1) * 6;
    assert!((y.to_vec()[at + 4] - 5.0 * first).abs() < 1e-5);
    check_grad(
        |x| taps(x[0].clone(), x[1].clone()),
        |x, ct| {
            let (_, pull) = taps::vjp(x[0].clone(), x[1].clone(), Want::ALL);
            let (cx, cw) = pull.pull(Some(ct), &mut ());
            vec![cx, cw]
        },
        &[x.clone(), w],
        GradCheck::default(),
    );
    let wrong = cotangent::attempt(|| taps(x.clone(), Tensor::ones([2], &device))).unwrap_err().to_string();
    assert_eq!(wrong, "taps: axis 0 of `w` is 2, expected 3: it is [2], and the rest of the signature asks for [3]");
}

#[test]
fn shapes_of_any_rank_and_layout() {
    let device = Device::cpu();
    let w = Tensor::randn([5], &mut Rng::seed(4), &device);
    for shape in [&[5][..], &[0, 5], &[3, 5], &[2, 1, 5], &[2, 3, 2, 5]] {
        let x = Tensor::randn(shape, &mut Rng::seed(3), &device);
        let expected = x.clone() * (x.clone().square().mean_keepdim(-1) + 1e-5).rsqrt() * w.clone();
        let y = rms_norm(x, w.clone(), 1e-5);
        assert_eq!(y.shape(), shape);
        assert!(y.to_vec().iter().zip(expected.to_vec()).all(|(a, b)| (a - b).abs() < 1e-5));
    }
    let x = Tensor::randn([5, 3, 4], &mut Rng::seed(3), &device);
    let moved = x.clone().permute([2, 1, 0]);
    let y = rms_norm(moved.clone(), w.clone(), 1e-5).to_vec();
    assert_eq!(y, rms_norm(moved.contiguous(), w, 1e-5).to_vec());
}

#[test]
fn every_precision() {
    let device = Device::cpu();
    let (x, w) = (Tensor::randn([6, 40], &mut Rng::seed(3), &device), Tensor::ones([40], &device));
    let exact = rms_norm(x.clone().to(DType::F64), w.clone().to(DType::F64), 1e-5);
    assert_eq!(exact.dtype(), DType::F64);
    for (dtype, tolerance) in [(DType::F32, 1e-6), (DType::F16, 2e-3), (DType::BF16, 2e-2)] {
        let y = rms_norm(x.clone().to(dtype), w.clone().to(dtype), 1e-5);
        assert_eq!(y.dtype(), dtype);
        let pairs = y.to(DType::F64).to_vec().into_iter().zip(exact.to_vec());
        for (a, b) in pairs {
            assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "{dtype}: {a} and {b}");
        }
    }
}

/// `x + by`, in the precision of `x`.
#[kernel]
fn shifted(x: Tensor![N..], by: f64) -> Tensor![N..] {
    |i| x[i] + by
}

#[test]
fn wide_numbers_keep_their_digits() {
    let (x, by) = (Tensor::zeros([3], &Device::cpu()), 1.0 / 3.0);
    assert_eq!(shifted(x.clone().double(), by).to_vec_of::<f64>(), [by; 3]);
    assert_eq!(shifted(x.clone(), by).to_vec(), [by as f32; 3]);
    let dx = shifted::vjp(x.double(), by, Want::ALL).1.pull(Some(Tensor::ones([3], &Device::cpu())), &mut ()).0;
    assert_eq!(dx.map(|dx| dx.dtype()), Some(DType::F64));
}

#[test]
fn cotangents_have_the_dtype_of_the_argument_and_kept_values_are_not_rounded() {
    let device = Device::cpu();
    let random = |shape: &[usize], seed| Tensor::randn(shape, &mut Rng::seed(seed), &device).bfloat16();
    let (x, w, ct) = (random(&[4, 300], 3) + 100.0, random(&[300], 4), random(&[4, 300], 5));
    let pulled = |x: &Tensor, w: &Tensor| {
        let (dx, dw, ()) = rms_norm::vjp(x.clone(), w.clone(), 1e-5, Want::ALL).1.pull(Some(ct.clone()), &mut ());
        [dx, dw].map(|ct| ct.expect("a cotangent"))
    };
    let exact = pulled(&x.clone().float(), &w.clone().float());
    for (found, exact) in pulled(&x, &w).iter().zip(&exact) {
        assert_eq!((found.dtype(), exact.dtype()), (DType::BF16, DType::F32));
        for (a, b) in found.to_vec().into_iter().zip(exact.to_vec()) {
            assert!((a - b).abs() <= 0.004 * b.abs() + 1e-4, "{a} {b}");
        }
    }
    let [dx, dw] = pulled(&x, &w.float());
    assert_eq!((dx.dtype(), dw.dtype()), (DType::BF16, DType::F32));
}

/// Each element's share of the sum over all axes.
#[kernel]
fn shares(x: Tensor![N..]) -> Tensor![N..] {
    |i| x[i] / sum(|j| x[j])
}

/// The elements in the other order.
#[kernel]
fn reversed(x: Tensor![N..]) -> Tensor![N..] {
    |i| x[N - 1 - i]
}

#[test]
fn reductions_over_all_axes() {
    for shape in [&[][..], &[6], &[2, 3], &[1, 3, 2]] {
        let x = Tensor::from_slice(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [6], &Device::cpu());
        let x = if shape.is_empty() { x.narrow(0, 0, 1).squeeze(0) } else { x.reshape(shape) };
        let (y, sum) = (shares(x.clone()), x.clone().sum(..).item());
        let want: Vec<f32> = x.to_vec().iter().map(|v| v / sum).collect();
        assert!(y.to_vec().iter().zip(&want).all(|(a, b)| (a - b).abs() < 1e-6), "{shape:?}: {y} {want:?}");
        let mut turned = reversed(x.clone()).to_vec();
        turned.reverse();
        assert_eq!(turned, x.to_vec(), "{shape:?}");
    }
}

/// The sum of each row, less one element of it.
#[kernel(unrounded)]
fn others(x: Tensor![R.., C], skip: Tensor![Int; R..]) -> Tensor![R..] {
    |r| sum(|j| x[r][j]) - or_zero(x[r][skip[r]])
}

#[test]
fn rows_give_up_single_elements() {
    let device = Device::cpu();
    let x = Tensor::from_slice(&[1.0, 2.0, 4.0, 8.0, 16.0, 32.0], [2, 3], &device);
    let skip = |values: &[i64]| Tensor::<Int>::from_slice(values, [2], &device);
    assert_eq!(others(x.clone(), skip(&[1, 0])).to_vec(), [5.0, 48.0]);
    assert_eq!(others(x.clone(), skip(&[-1, 3])).to_vec(), [7.0, 56.0]);
    let t = x.clone().t();
    assert_eq!(others(t.clone().narrow(0, 1, 2), skip(&[1, 0])).to_vec(), [2.0, 32.0]);
    let (y, pull) = others::vjp(x.bfloat16() * 1.01, skip(&[2, 5]), Want::ALL);
    let (dx, ()) = pull.pull(Some(y.ones_like()), &mut ());
    let dx = dx.expect("a cotangent");
    assert_eq!((y.dtype(), dx.dtype(), dx.to_vec()), (DType::F32, DType::BF16, vec![1.0, 1.0, 0.0, 1.0, 1.0, 1.0]));
}

/// A number from 0 up to 1 beside each element, and whether the words are those of single positions.
#[kernel]
fn noisy(x: Tensor![N..], key: Key) -> (Tensor![N..], Tensor![Int; N..]) {
    |i| (x[i] + uniform(key, i), random_bits(key, i) - random_bits(key, i + 0 * x[i] as i64))
}

#[test]
fn random_numbers_depend_on_the_position_alone() {
    let device = Device::cpu();
    for n in [0, 1, 63, 64, 65, 5000] {
        let (y, difference) = noisy(Tensor::zeros([n], &device), Key(7));
        assert!(difference.to_vec().iter().all(|d| *d == 0));
        assert!(y.to_vec().iter().all(|u| (0.0..1.0).contains(u)));
        let wide = noisy(Tensor::zeros([2, n], &device).t(), Key(7)).0.to_vec();
        assert_eq!(wide[..n], y.to_vec());
    }
}

/// A row over its sum, times a number of the row.
#[kernel]
fn weighted(x: Tensor![R, C], k: Tensor![R]) -> Tensor![R, C] {
    |r, i| k[r] * x[r][i] / sum(|j| x[r][j])
}

#[test]
fn quotients_of_rows() {
    let device = Device::cpu();
    let x = Tensor::from_slice(&[1.0, 3.0, 2.0, 6.0], [2, 2], &device);
    let k = Tensor::from_slice(&[4.0, 16.0], [2], &device);
    assert_eq!(weighted(x, k).to_vec(), [1.0, 3.0, 4.0, 12.0]);
}

/// A distance by its first argument alone.
#[kernel]
fn to_fixed(x: Tensor![N], y: Tensor![N]) -> Tensor![N] {
    |i| (x[i] - detach(y[i])) * (x[i] - detach(y[i]))
}

#[test]
fn arguments_without_influence_have_no_cotangent() {
    let x = Tensor::ones([2], &Device::cpu());
    let (y, pull) = to_fixed::vjp(x.clone() * 3.0, x, Want::ALL);
    let (dx, dy) = pull.pull(Some(y.ones_like()), &mut ());
    assert_eq!((dx.map(|d| d.to_vec()), dy.is_none()), (Some(vec![4.0, 4.0]), true));
}
