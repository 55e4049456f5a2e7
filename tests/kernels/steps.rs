//! Kernels that take several steps, or whose results threads share out in another way than by rows.

use cotangent::diff::{Pullback, Want};
use cotangent::prelude::*;
use cotangent::testing::{GradCheck, check_grad};

#[kernel]
fn running(x: Tensor![R, C]) -> (Tensor![R, C], Tensor![R, C]) {
    |r, c| (cumsum(|j| x[r][j], c), detach(cummax(|q| x[q][c], r)))
}

#[kernel]
fn decayed(x: Tensor![R, C], w: Tensor![C]) -> Tensor![R, C] {
    |r, c| tanh(cumsum(|j| x[r][j] * w[j], c)) + x[r][c]
}

#[kernel]
fn square_loss(x: Tensor![N..], y: Tensor![N..]) -> Tensor![] {
    || mean(|i| (x[i] - y[i]) * (x[i] - y[i]))
}

#[kernel]
fn cross_entropy(x: Tensor![R, C], t: Tensor![Int; R]) -> Tensor![] {
    || {
        mean(|r| {
            let m = max(|i| x[r][i]);
            m + log(sum(|i| exp(x[r][i] - m))) - x[r][t[r]]
        })
    }
}

/// How many are above a threshold.
#[kernel]
fn count(x: Tensor![R, C], least: f32) -> Tensor![Int;] {
    || sum(|r, c| (x[r][c] > least) as i64)
}

#[kernel]
fn lookup(w: Tensor![V, C], ids: Tensor![Int; T]) -> Tensor![T, C] {
    |t, c| w[ids[t]][c]
}

#[kernel]
fn scores(x: Tensor![M, K], w: Tensor![N, K]) -> Tensor![M, N] {
    |i, j| exp(sum(|k| x[i][k] * w[j][k]))
}

fn random(shape: &[usize], seed: u64) -> Tensor {
    Tensor::randn(shape, &mut Rng::seed(seed), &Device::cpu())
}

fn ids(n: usize, below: usize) -> Tensor<Int> {
    let list: Vec<i64> = (0..n).map(|i| (i * 7919 % below) as i64).collect();
    Tensor::from_slice(&list, [n], &Device::cpu())
}

#[track_caller]
fn near(found: f32, expected: f64, tolerance: f64) {
    assert!((f64::from(found) - expected).abs() <= tolerance * (1.0 + expected.abs()), "{found} is not {expected}");
}

#[test]
fn scans() {
    for [rows, columns] in [[1, 1], [3, 5], [0, 2], [2, 0], [4, 300], [70, 9]] {
        for (dtype, tolerance) in [(DType::F32, 1e-5), (DType::F64, 1e-5), (DType::BF16, 1e-2)] {
            let x = random(&[rows, columns], 1).to(dtype);
            let (sums, most) = running(x.clone());
            assert_eq!((sums.dtype(), most.shape()), (dtype, &[rows, columns][..]));
            let (x, sums, most) = (x.to_vec(), sums.to_vec(), most.to_vec());
            for r in 0..rows {
                let mut sum = 0.0;
                for c in 0..columns {
                    sum += f64::from(x[r * columns + c]);
                    near(sums[r * columns + c], sum, tolerance);
                    let above = (0..=r).map(|q| x[q * columns + c]).fold(f32::NEG_INFINITY, f32::max);
                    assert_eq!(most[r * columns + c], above);
                }
            }
        }
    }
    let inputs = [random(&[3, 5], 1), random(&[5], 2)];
    check_grad(
        |x| decayed(x[0].clone(), x[1].clone()),
        |x, ct| {
            let (dx, dw) = decayed::vjp(x[0].clone(), x[1].clone(), Want::ALL).1.pull(Some(ct), &mut ());
            vec![dx, dw]
        },
        &inputs,
        GradCheck::default(),
    );
}

#[test]
fn losses() {
    for shape in [&[1][..], &[70_000], &[300, 500], &[0], &[3, 1, 2], &[]] {
        let (x, y) = (random(shape, 1), random(shape, 2));
        let pairs: Vec<(f32, f32)> = x.to_vec().into_iter().zip(y.to_vec()).collect();
        let sum: f64 = pairs.iter().map(|(x, y)| f64::from(x - y).powi(2)).sum();
        let loss = square_loss(x, y).item();
        if pairs.is_empty() {
            assert!(loss.is_nan());
        } else {
            near(loss, sum / pairs.len() as f64, 1e-5);
        }
    }
    for [rows, classes] in [[1, 1], [3, 5], [800, 130]] {
        let (x, t) = (random(&[rows, classes], 1), ids(rows, classes));
        near(cross_entropy(x.clone(), t.clone()).item(), f64::from(x.clone().cross_entropy(t.clone()).item()), 1e-5);
        let half = cross_entropy(x.clone().to(DType::BF16), t.clone());
        near(half.to(DType::F32).item(), f64::from(x.cross_entropy(t).item()), 2e-2);
    }
    let x = random(&[400, 300], 1);
    let above = x.to_vec().iter().filter(|x| **x > 0.5).count();
    assert_eq!(count(x, 0.5).item(), above as i64);
}

#[test]
fn gradients() {
    let (x, t) = (random(&[5, 4], 1), ids(5, 4));
    check_grad(
        |x| square_loss(x[0].clone(), x[1].clone()),
        |x, ct| {
            let (dx, dy) = square_loss::vjp(x[0].clone(), x[1].clone(), Want::ALL).1.pull(Some(ct), &mut ());
            vec![dx, dy]
        },
        &[x.clone(), random(&[5, 4], 2)],
        GradCheck::default(),
    );
    check_grad(
        |x| cross_entropy(x[0].clone(), t.clone()),
        |x, ct| vec![cross_entropy::vjp(x[0].clone(), t.clone(), Want::ALL).1.pull(Some(ct), &mut ()).0],
        std::slice::from_ref(&x),
        GradCheck::default(),
    );
    check_grad(
        |x| scores(x[0].clone(), x[1].clone()),
        |x, ct| {
            let (dx, dw) = scores::vjp(x[0].clone(), x[1].clone(), Want::ALL).1.pull(Some(ct), &mut ());
            vec![dx, dw]
        },
        &[x, random(&[3, 4], 2)],
        GradCheck::default(),
    );
}

#[test]
fn scattered_sums() {
    for [table, width, count] in [[1, 1, 1], [5, 3, 20], [3000, 40, 2000], [4, 2, 0]] {
        let (w, ids) = (random(&[table, width], 1), ids(count, table));
        let (y, pull) = lookup::vjp(w.clone(), ids.clone(), Want::ALL);
        let rows: Vec<usize> = ids.to_vec().iter().map(|id| *id as usize).collect();
        let (y, w, ct) = (y.to_vec(), w.to_vec(), random(&[count, width], 2));
        assert!((0..count * width).all(|i| y[i] == w[rows[i / width] * width + i % width]));
        let dw = pull.pull(Some(ct.clone()), &mut ()).0.expect("wanted").to_vec();
        let mut expected = vec![0.0f64; table * width];
        for (i, ct) in ct.to_vec().iter().enumerate() {
            expected[rows[i / width] * width + i % width] += f64::from(*ct);
        }
        dw.iter().zip(expected).for_each(|(found, expected)| near(*found, expected, 1e-5));
    }
}

#[test]
fn only_wanted_cotangents() {
    let (x, w, ct) = (random(&[6, 4], 1), random(&[5, 4], 2), random(&[6, 5], 3));
    let pull = |want| scores::vjp(x.clone(), w.clone(), want).1.pull(Some(ct.clone()), &mut ());
    let (dx, dw) = pull(Want::ALL);
    let (only_dx, none) = pull(Want::of(&[false, true, false]));
    assert!(none.is_none() && only_dx.expect("wanted").to_vec() == dx.expect("wanted").to_vec());
    let (none, only_dw) = pull(Want::of(&[false, false, true]));
    assert!(none.is_none() && only_dw.expect("wanted").to_vec() == dw.expect("wanted").to_vec());
}

/// Doubles `w`; its old values times rows of `x`.
#[kernel]
fn doubled(w: &mut Tensor![N, C], x: Tensor![V, C], ids: Tensor![Int; N]) -> Tensor![N, C] {
    |i, c| {
        let old = w[i][c];
        w[i][c] = 2.0 * old;
        x[ids[i]][c] * old
    }
}

#[test]
fn what_is_changed_in_place_is_read_before() {
    let (mut w, x, ids) = (random(&[4, 3], 1), random(&[5, 3], 2), ids(4, 5));
    let before = w.to_vec();
    let y = doubled(&mut w, x.clone(), ids.clone()).to_vec();
    assert!(w.to_vec().iter().zip(&before).all(|(new, old)| *new == 2.0 * old));
    let rows = ids.to_vec().into_iter().flat_map(|id| x.to_vec()[3 * id as usize..][..3].to_vec());
    assert!(rows.zip(before).map(|(x, old)| x * old).eq(y));
}

#[kernel]
fn share_of_all(x: Tensor![N..]) -> Tensor![N..] {
    |i| x[i] / sum(|j| x[j])
}

#[test]
fn sums_over_any_number_of_axes() {
    for shape in [&[6][..], &[2, 3], &[3, 1, 2]] {
        let x = random(shape, 1);
        let sum: f32 = x.to_vec().iter().sum();
        for (y, x) in share_of_all(x.clone()).to_vec().into_iter().zip(x.to_vec()) {
            near(y, f64::from(x / sum), 1e-5);
        }
    }
}
