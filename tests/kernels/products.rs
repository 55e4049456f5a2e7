//! Matrix products written as sums.

use cotangent::diff::{Pullback, Want};
use cotangent::prelude::*;

#[kernel]
fn matmul(a: Tensor![M, K], b: Tensor![K, N]) -> Tensor![M, N] {
    |i, j| sum(|k| a[i][k] * b[k][j])
}

/// Scores of queries and keys, for any number of heads.
#[kernel]
fn scores(q: Tensor![B.., T, C], k: Tensor![B.., S, C], scale: f32) -> Tensor![B.., T, S] {
    |b, t, s| scale * sum(|c| q[b][t][c] * k[b][s][c])
}

#[kernel]
fn dense(x: Tensor![B.., I], w: Tensor![O, I], b: Tensor![O]) -> Tensor![B.., O] {
    |r, o| relu(sum(|i| x[r][i] * w[o][i]) + b[o])
}

fn random(shape: &[usize], seed: u64, dtype: DType) -> Tensor {
    Tensor::randn(shape, &mut Rng::seed(seed), &Device::cpu()).to(dtype)
}

#[track_caller]
fn near(found: &Tensor, expected: &Tensor, tolerance: f64) {
    assert_eq!(found.shape(), expected.shape());
    let numbers = |x: &Tensor| x.to_vec_of::<f64>();
    for (a, b) in numbers(found).into_iter().zip(numbers(expected)) {
        assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "{a} is not {b}");
    }
}

const DTYPES: [(DType, f64); 4] = [(DType::F64, 1e-12), (DType::F32, 1e-5), (DType::F16, 2e-3), (DType::BF16, 2e-2)];

#[test]
fn every_precision_and_layout() {
    for (dtype, tolerance) in DTYPES {
        for [m, k, n] in [[1, 1, 1], [3, 4, 5], [70, 33, 130], [0, 3, 2], [2, 0, 3], [1, 300, 7], [65, 2, 1]] {
            let (a, b) = (random(&[m, k], 1, dtype), random(&[k, n], 2, dtype));
            let expected = a.clone().matmul(b.clone());
            let y = matmul(a.clone(), b.clone());
            assert_eq!(y.dtype(), dtype);
            near(&y, &expected, tolerance);
            let turned = |x: Tensor| x.permute([1, 0]).contiguous().permute([1, 0]);
            near(&matmul(turned(a.clone()), turned(b.clone())), &expected, tolerance);
            let part = random(&[m + 3, k + 2], 4, dtype).narrow(0, 1, m).narrow(1, 2, k);
            near(&matmul(part.clone(), b.clone()), &part.matmul(b.clone()), tolerance);
            let ct = random(&[m, n], 3, dtype);
            let (_, pull) = matmul::vjp(a.clone(), b.clone(), Want::ALL);
            let (da, db) = pull.pull(Some(ct.clone()), &mut ());
            near(&da.expect("wanted"), &ct.clone().matmul(b.permute([1, 0])), tolerance);
            near(&db.expect("wanted"), &a.permute([1, 0]).matmul(ct), tolerance);
        }
    }
}

#[test]
fn mixed_precision_is_promoted() {
    let (a, b) = (random(&[5, 6], 1, DType::BF16), random(&[6, 7], 2, DType::F32));
    let y = matmul(a.clone(), b.clone());
    assert_eq!(y.dtype(), DType::F32);
    near(&y, &a.to(DType::F32).matmul(b), 1e-5);
}

#[test]
fn batches_of_any_rank() {
    for (dtype, tolerance) in DTYPES {
        for lead in [&[][..], &[3], &[2, 3], &[0], &[1, 2]] {
            let shape = |last: [usize; 2]| [lead, &last].concat();
            let (q, k) = (random(&shape([5, 8]), 1, dtype), random(&shape([6, 8]), 2, dtype));
            let expected = q.clone().matmul(k.clone().transpose(-1, -2)) * 0.25;
            near(&scores(q, k, 0.25), &expected, 2.0 * tolerance);
        }
    }
    // Heads that were split off the last axis: nothing lies in order.
    let split = |seed| random(&[2, 5, 3, 8], seed, DType::F32).permute([0, 2, 1, 3]);
    let (q, k) = (split(1), split(2));
    near(&scores(q.clone(), k.clone(), 1.0), &q.matmul(k.transpose(-1, -2)), 1e-5);
}

#[test]
fn epilogues() {
    for (dtype, tolerance) in DTYPES {
        for lead in [&[4][..], &[2, 3], &[0], &[]] {
            let x = random(&[lead, &[6]].concat(), 1, dtype);
            let (w, b) = (random(&[5, 6], 2, dtype), random(&[5], 3, dtype));
            let expected = (x.clone().matmul(w.clone().permute([1, 0])) + b.clone()).relu();
            near(&dense(x, w, b), &expected, 2.0 * tolerance);
        }
    }
}
