//! Derived gradients of kernels as users write them, against central differences.

use cotangent::diff::{Pullback, Want};
use cotangent::prelude::*;
use cotangent::testing::{GradCheck, check_grad};

/// Rotary embedding of halves.
#[kernel]
fn rotary(x: Tensor![R.., T, 2 * H]) -> Tensor![R.., T, 2 * H] {
    |r, t, i| {
        let h = i % H;
        let angle = t * exp(-4.0 * h / H);
        let (a, b) = (x[r][t][h], x[r][t][h + H]);
        if i < H { a * cos(angle) - b * sin(angle) } else { b * cos(angle) + a * sin(angle) }
    }
}

#[kernel]
fn max_pool(x: Tensor![R.., 2 * O]) -> (Tensor![R.., O], Tensor![Int; R.., O]) {
    |r, o| (max(0..2, |k| x[r][2 * o + k]), 2 * o + argmax(0..2, |k| x[r][2 * o + k]))
}

#[kernel]
fn convolution(x: Tensor![R.., N], w: Tensor![K]) -> Tensor![R.., N - K + 1] {
    |r, i| sum(|k| x[r][i + k] * w[k])
}

#[kernel]
fn padded(x: Tensor![R.., N], w: Tensor![3]) -> Tensor![R.., N] {
    |r, i| sum(|k| or_zero(x[r][i + k - 1]) * w[k])
}

#[kernel]
fn cross_entropy(x: Tensor![R.., C], target: Tensor![Int; R..]) -> Tensor![] {
    mean(|r| logsumexp(|j| x[r][j]) - x[r][target[r]])
}

#[kernel]
fn statistics(x: Tensor![B, C, S]) -> (Tensor![C], Tensor![B, S]) {
    (
        |c| {
            let m = mean(|b, s| x[b][c][s]);
            mean(|b, s| square(x[b][c][s] - m))
        },
        |b, s| prod(|c| x[b][c][s]),
    )
}

#[kernel]
fn attention(q: Tensor![B, T, D], k: Tensor![B, T, D], v: Tensor![B, T, E]) -> Tensor![B, T, E] {
    |b, t, e| {
        let z = logsumexp(0..T, |s| if s <= t { sum(|d| q[b][t][d] * k[b][s][d]) } else { f32::NEG_INFINITY });
        sum(|s| if s <= t { exp(sum(|d| q[b][t][d] * k[b][s][d]) - z) * v[b][s][e] } else { 0.0 })
    }
}

fn input(shape: &[usize]) -> Tensor {
    Tensor::randn(shape, &mut Rng::seed(shape.len() as u64), &Device::cpu())
}

/// Checks `f(x, y, ..)`, each of the inputs once.
macro_rules! check {
    ($f:ident($($x:ident: $shape:expr),+)) => {
        check_grad(
            |xs| {
                let [$($x),+] = xs else { unreachable!() };
                $f($($x.clone()),+)
            },
            |xs, ct| {
                let [$($x),+] = xs else { unreachable!() };
                let ($($x,)+) = $f::vjp($($x.clone(),)+ Want::ALL).1.pull(Some(ct), &mut ());
                vec![$($x),+]
            },
            &[$(input(&$shape)),+],
            GradCheck::default(),
        )
    };
}

#[test]
fn of_products_and_stencils() {
    check!(rotary(x: [2, 2, 3, 6]));
    check!(convolution(x: [2, 6], w: [3]));
    check!(padded(x: [2, 6], w: [3]));
    check!(attention(q: [2, 3, 4], k: [2, 3, 4], v: [2, 3, 5]));
}

#[test]
fn of_gathers() {
    let target = || Tensor::<Int>::from_slice(&[1, 0], [2], &Device::cpu());
    check_grad(
        |x| cross_entropy(x[0].clone(), target()),
        |x, ct| vec![cross_entropy::vjp(x[0].clone(), target(), Want::ALL).1.pull(Some(ct), &mut ()).0],
        &[input(&[2, 6])],
        GradCheck::default(),
    );
}

#[test]
fn of_one_result_among_several() {
    let pooled = |x: &[Tensor], ct| max_pool::vjp(x[0].clone(), Want::ALL).1.pull((Some(ct), ()), &mut ()).0;
    check_grad(|x| max_pool(x[0].clone()).0, |x, ct| vec![pooled(x, ct)], &[input(&[2, 6])], GradCheck::default());
    let first = |x: &[Tensor], ct| statistics::vjp(x[0].clone(), Want::ALL).1.pull((Some(ct), None), &mut ()).0;
    let second = |x: &[Tensor], ct| statistics::vjp(x[0].clone(), Want::ALL).1.pull((None, Some(ct)), &mut ()).0;
    let x = [input(&[2, 3, 4])];
    check_grad(|x| statistics(x[0].clone()).0, |x, ct| vec![first(x, ct)], &x, GradCheck::default());
    check_grad(|x| statistics(x[0].clone()).1, |x, ct| vec![second(x, ct)], &x, GradCheck::default());
}
