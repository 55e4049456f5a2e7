//! Slices, positions and masks in bodies: proved shapes, and the gradients of what was read and written.

use crate::support::device;
use cotangent::diff::{Pullback, Want};
use cotangent::prelude::*;
use cotangent::testing::{GradCheck, check_grad};

/// Neighbours' differences, every second one in each column, with the last row in front.
#[model]
pub fn sliced(x: Tensor![N, 6]) -> Tensor![N - 1, 3] {
    let steps: Tensor![N - 1, 6] = x.slice(s![1.., ..]) - x.slice(s![..-1, ELLIPSIS]);
    let last: Tensor![3] = x.slice(s![-1, ..;2]);
    steps.slice(s![.., ..;-2]) * last
}

/// Rows written to a part of a tensor, and one of them read.
#[model]
pub fn written(x: Tensor![N, 4], y: Tensor![2]) -> Tensor![N, 4] {
    let wide = x.slice_assign(s![.., 1..3], y);
    wide.slice_fill(s![0, 0], 2.0) * x.select(0, -1)
}

/// Entries looked up, weighed and put back.
#[model]
pub fn routed(x: Tensor![N, 4], at: Tensor![Int; M], w: Tensor![M]) -> Tensor![N, 4] {
    let rows: Tensor![M, 4] = x.index_select(0, at) * w.unsqueeze(1);
    x.index_add(0, at, rows)
}

/// The elements that a mask chooses, whose number only the run knows.
#[model]
pub fn chosen(x: Tensor![N, 4], other: Tensor![N, 4]) -> Tensor![K] {
    let mask = x.gt(0.0);
    let kept: Tensor![K] = x.masked_select(mask);
    let beside: Tensor![K] = other.masked_select(mask);
    kept * beside
}

/// Parts of equal extent, entries, and a grid.
#[model]
pub fn parted(x: Tensor![N, 4], y: Tensor![3]) -> Tensor![N, 3] {
    let halves = x.chunk(2, 1);
    let columns = (halves[0] * halves[1]).unbind(1);
    let grid = meshgrid([columns[0], y]);
    grid[0] * grid[1] + columns[1].unsqueeze(1)
}

/// Borders, copies and diagonals.
#[model]
pub fn framed(x: Tensor![3, 3]) -> Tensor![7, 5] {
    let padded: Tensor![7, 3] = x.pad_with([0, 0, 2, 2], PadMode::Reflect);
    let turned = x.tril(0).flip(1).diagonal(0, 0, 1).diag(0).trace();
    padded.pad([1, 1], 0.5) * turned + x.repeat([1, 2]).slice(s![0, 1..])
}

fn random(shape: &[usize], seed: u64) -> Tensor {
    Tensor::randn(shape, &mut Rng::seed(seed), &device())
}

#[test]
fn slices() {
    check_grad(
        |xs| sliced(xs[0].clone()),
        |xs, ct| vec![sliced::vjp(xs[0].clone(), Want::ALL).1.pull(Some(ct), &mut ()).0],
        &[random(&[5, 6], 1)],
        GradCheck::default(),
    );
    check_grad(
        |xs| written(xs[0].clone(), xs[1].clone()),
        |xs, ct| {
            let (x, y) = written::vjp(xs[0].clone(), xs[1].clone(), Want::ALL).1.pull(Some(ct), &mut ());
            vec![x, y]
        },
        &[random(&[3, 4], 2), random(&[2], 3)],
        GradCheck::default(),
    );
}

#[test]
fn positions_and_masks() {
    let at = Tensor::from_slice(&[2i64, 0, 2], [3], &device());
    check_grad(
        |xs| routed(xs[0].clone(), at.clone(), xs[1].clone()),
        |xs, ct| {
            let (_, pullback) = routed::vjp(xs[0].clone(), at.clone(), xs[1].clone(), Want::ALL);
            let (x, (), w) = pullback.pull(Some(ct), &mut ());
            vec![x, w]
        },
        &[random(&[4, 4], 4), random(&[3], 5)],
        GradCheck::default(),
    );
    check_grad(
        |xs| chosen(xs[0].clone(), xs[1].clone()),
        |xs, ct| {
            let (x, y) = chosen::vjp(xs[0].clone(), xs[1].clone(), Want::ALL).1.pull(Some(ct), &mut ());
            vec![x, y]
        },
        &[random(&[3, 4], 6), random(&[3, 4], 7)],
        GradCheck::default(),
    );
}

#[test]
fn parts_and_borders() {
    check_grad(
        |xs| parted(xs[0].clone(), xs[1].clone()),
        |xs, ct| {
            let (x, y) = parted::vjp(xs[0].clone(), xs[1].clone(), Want::ALL).1.pull(Some(ct), &mut ());
            vec![x, y]
        },
        &[random(&[3, 4], 8), random(&[3], 9)],
        GradCheck::default(),
    );
    check_grad(
        |xs| framed(xs[0].clone()),
        |xs, ct| vec![framed::vjp(xs[0].clone(), Want::ALL).1.pull(Some(ct), &mut ()).0],
        &[random(&[3, 3], 10)],
        GradCheck::default(),
    );
}
