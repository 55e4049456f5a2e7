//! `native::lanes` and `native::row` against plain folds, over lengths around multiples of the number of lanes.

use cotangent_hal::native::{lanes, row, scalar};

const LENGTHS: [usize; 9] = [0, 1, 3, 63, 64, 65, 127, 200, 1025];

fn values(n: usize, seed: u32) -> Vec<f32> {
    (0..n as u32).map(|i| (i.wrapping_mul(2_654_435_761).wrapping_add(seed) >> 20) as f32 / 2048.0 - 1.0).collect()
}

fn sum(x: &[f32]) -> f32 {
    row::fold([x], 0.0, |s, [x]| s + x, |a, b| a + b)
}

fn max_or_nan(x: &[f32]) -> f32 {
    row::fold([x], f32::NEG_INFINITY, |s, [x]| scalar::maximum(s, x), scalar::maximum)
}

fn close(given: f32, exact: f64) {
    assert!((f64::from(given) - exact).abs() < 1e-4 * (1.0 + exact.abs()), "{given} instead of {exact}");
}

#[test]
fn sums() {
    for n in LENGTHS {
        let (x, y, z) = (values(n, 1), values(n, 77), values(n, 1234));
        let exact = |f: &dyn Fn(f64, f64, f64) -> f64| -> f64 {
            (0..n).map(|i| f(f64::from(x[i]), f64::from(y[i]), f64::from(z[i]))).sum()
        };
        close(sum(&x), exact(&|x, _, _| x));
        let product = row::fold([&x[..], &y, &z], 0.0, |s, [x, y, z]| s + x * y * z, |a, b| a + b);
        close(product, exact(&|x, y, z| x * y * z));
        close(lanes::dot::<false, _>(&x, &y), exact(&|x, y, _| x * y));
        close(lanes::dot::<true, _>(&x, &y), exact(&|x, y, _| x * y));
    }
}

#[test]
fn an_empty_sum_is_zero_and_an_empty_maximum_is_minus_infinity() {
    assert_eq!(sum(&[]), 0.0);
    assert_eq!(max_or_nan(&[]), f32::NEG_INFINITY);
}

#[test]
fn maxima_and_nan() {
    for n in LENGTHS.into_iter().filter(|&n| n > 0) {
        let mut x = values(n, 5);
        let largest = x.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        assert_eq!(max_or_nan(&x), largest);
        for i in [0, n / 2, n - 1] {
            let kept = std::mem::replace(&mut x[i], f32::NAN);
            assert!(max_or_nan(&x).is_nan(), "NaN at {i} of {n} is lost");
            x[i] = kept;
        }
    }
}

#[test]
fn the_order_depends_on_the_length_alone() {
    let x = values(1000, 3);
    let by_two = row::fold([&x[..], &x], 0.0, |s, [a, _]| s + a, |a, b| a + b);
    assert_eq!(sum(&x).to_bits(), by_two.to_bits());
}

#[test]
fn f64_keeps_its_digits() {
    for n in LENGTHS {
        let x: Vec<f64> = values(n, 5).into_iter().map(|v| f64::from(v) / 3.0).collect();
        let exact: f64 = x.iter().map(|v| v * v).sum();
        assert!((lanes::dot::<false, _>(&x, &x) - exact).abs() < 1e-13 * (1.0 + exact));
    }
}
