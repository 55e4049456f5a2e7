//! Functions that end products and convolutions, against the same in two steps.

use crate::reference::{Array, close, layouts, pulled, random};
use cotangent_runtime::__private::Activation;
use cotangent_runtime::diff::Want;
use cotangent_runtime::testing::{GradCheck, check_grad};
use cotangent_runtime::{DType, Tensor};

type Function = fn(Tensor) -> Tensor;

const ALL: [(Activation, Function); 4] = [
    (Activation::Relu, |x| x.relu()),
    (Activation::Gelu, |x| x.gelu()),
    (Activation::GeluTanh, |x| x.gelu_tanh()),
    (Activation::Silu, |x| x.silu()),
];

/// Holds a call that ends in a function against `steps`, which has none, and its gradient against differences.
fn check<P>(
    steps: impl Fn(&[Tensor]) -> Tensor,
    call: impl Fn(&[Tensor], Activation) -> Tensor,
    vjp: impl Fn(&[Tensor], Activation, Want) -> (Tensor, P),
    pull: impl Fn(P, Tensor) -> Vec<Option<Tensor>>,
    operands: &[Tensor],
) {
    let exact: Vec<Tensor> = operands.iter().map(|x| x.clone().to(DType::F64)).collect();
    for (then, function) in ALL {
        let want = Array::of(&function(steps(&exact)));
        close(&call(operands, then), &want);
        // The companion gives the same, whatever is wanted.
        [Want::NONE, Want::SELF, Want::ALL].into_iter().for_each(|all| close(&vjp(operands, then, all).0, &want));
        // Steps past the kink are no differences: short ones, of `f64`, stay away from it.
        let (operands, step) = match then {
            Activation::Relu => (&exact[..], 1e-5),
            Activation::Identity | Activation::Gelu | Activation::GeluTanh | Activation::Silu => {
                (operands, GradCheck::default().step)
            }
        };
        check_grad(
            |xs| call(xs, then),
            |xs, ct| pull(vjp(xs, then, Want::ALL).1, ct),
            operands,
            GradCheck { step, most: 6, ..GradCheck::default() },
        );
    }
}

#[test]
fn affine_maps() {
    for (n, [shape, weight]) in
        [[&[3][..], &[4, 3][..]], [&[5, 3], &[4, 3]], [&[2, 5, 3], &[1, 3]], [&[0, 3], &[4, 3]], [&[2, 0], &[4, 0]]]
            .into_iter()
            .enumerate()
    {
        let weights = layouts(weight, -1.0, 1.0, n as u64 + 50);
        let biases = layouts(&weight[..1], -1.0, 1.0, n as u64 + 90);
        for (i, x) in layouts(shape, -1.0, 1.0, n as u64).into_iter().enumerate() {
            check(
                |xs| xs[0].clone().linear(xs[1].clone(), xs[2].clone()),
                |xs, then| xs[0].clone().linear__then(xs[1].clone(), xs[2].clone(), then),
                |xs, then, want| xs[0].clone().linear__then__vjp(xs[1].clone(), xs[2].clone(), then, want),
                |p, ct| {
                    let (x, w, b, ()) = pulled(p, Some(ct));
                    vec![x, w, b]
                },
                &[x, weights[(i + 1) % weights.len()].clone(), biases[(i + 2) % biases.len()].clone()],
            );
        }
    }
}

#[test]
fn products() {
    let cases: [[&[usize]; 2]; 6] = [
        [&[3], &[3]],
        [&[4, 3], &[3]],
        [&[4, 3], &[3, 5]],
        [&[2, 1, 4, 3], &[3, 3, 2]],
        [&[2, 0], &[0, 3]],
        [&[0, 2], &[2, 3]],
    ];
    for (n, [left, right]) in cases.into_iter().enumerate() {
        let others = layouts(right, -1.0, 1.0, n as u64 + 20);
        for (i, a) in layouts(left, -1.0, 1.0, n as u64).into_iter().enumerate() {
            check(
                |xs| xs[0].clone().matmul(xs[1].clone()),
                |xs, then| xs[0].clone().matmul__then(xs[1].clone(), then),
                |xs, then, want| xs[0].clone().matmul__then__vjp(xs[1].clone(), then, want),
                |p, ct| {
                    let (a, b, ()) = pulled(p, Some(ct));
                    vec![a, b]
                },
                &[a, others[(i + 1) % others.len()].clone()],
            );
        }
    }
}

#[test]
fn convolutions() {
    for (n, [shape, weight, [stride, groups, ..]]) in [
        [[2, 4, 5, 6], [6, 2, 3, 2], [1, 2, 0, 0]],
        [[2, 3, 6, 5], [3, 1, 3, 3], [2, 3, 0, 0]],
        [[1, 2, 1, 1], [1, 2, 1, 1], [1, 1, 0, 0]],
        [[0, 2, 3, 3], [4, 2, 3, 3], [1, 1, 0, 0]],
    ]
    .into_iter()
    .enumerate()
    {
        let weights = layouts(&weight, -1.0, 1.0, n as u64 + 50);
        let biases = layouts(&weight[..1], -1.0, 1.0, n as u64 + 90);
        for (i, x) in layouts(&shape, -1.0, 1.0, n as u64).into_iter().enumerate() {
            check(
                |xs| xs[0].clone().conv2d(xs[1].clone(), xs[2].clone(), stride, 1, 1, groups),
                |xs, then| xs[0].clone().conv2d__then(xs[1].clone(), xs[2].clone(), stride, 1, 1, groups, then),
                |xs, then, want| {
                    xs[0].clone().conv2d__then__vjp(xs[1].clone(), xs[2].clone(), stride, 1, 1, groups, then, want)
                },
                |p, ct| {
                    let (x, w, b, ..) = pulled(p, Some(ct));
                    vec![x, w, b]
                },
                &[x, weights[(i + 1) % weights.len()].clone(), biases[(i + 2) % biases.len()].clone()],
            );
        }
    }
    let (x, w, b) = (random(&[2, 3, 7], -1.0, 1.0, 1), random(&[4, 3, 2], -1.0, 1.0, 2), random(&[4], -1.0, 1.0, 3));
    check(
        |xs| xs[0].clone().conv1d(xs[1].clone(), xs[2].clone(), 1, 0, 1, 1),
        |xs, then| xs[0].clone().conv1d__then(xs[1].clone(), xs[2].clone(), 1, 0, 1, 1, then),
        |xs, then, want| xs[0].clone().conv1d__then__vjp(xs[1].clone(), xs[2].clone(), 1, 0, 1, 1, then, want),
        |p, ct| {
            let (x, w, b, ..) = pulled(p, Some(ct));
            vec![x, w, b]
        },
        &[x, w, b],
    );
}
