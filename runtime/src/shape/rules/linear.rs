//! Products of matrices and vectors that take fixed ranks, and what is made of them.

use super::axis::{Place, missing, place_of};
use super::elementwise::{alike, broadcast, same};
use super::matmul::matmul;
use super::reduce::reduce;
use super::{Plain, Shape, argument, input};
use crate::shape::step::{Fail, Step, Verdict};

/// `[x, weight, bias]`: `[.., I], [O, I], [O] -> [.., O]`.
pub const fn linear(inputs: &[Shape], _plain: &[Plain], _out: usize) -> Step {
    let (x, weight, bias) = (input(inputs, 0), input(inputs, 1), input(inputs, 2));
    if let Some(fail) = not_of_rank(&weight, 2) {
        return Step::mistake(fail);
    }
    if !weight.full() {
        return Step::UNKNOWN;
    }
    let product = matmul(&[x, Shape::of(&[weight.last(0), weight.last(1)])], &[], 0);
    let rows = Shape::of(&[weight.last(1)]);
    let fail = Fail::Affine { input: product.shape, given: bias, bias: true };
    match alike(&rows, &bias, None).0 {
        Verdict::Failed if !product.failed() => Step::mistake(fail),
        Verdict::Undecided => product.doubt(if bias.known() { fail } else { Fail::None }),
        Verdict::Failed | Verdict::Proved => product,
    }
}

/// `[N], [N] -> []`.
pub const fn dot(inputs: &[Shape], _plain: &[Plain], _out: usize) -> Step {
    ranked(inputs, 0, 1, 1)
}

/// `[M, N], [N] -> [M]`.
pub const fn mv(inputs: &[Shape], _plain: &[Plain], _out: usize) -> Step {
    ranked(inputs, 0, 2, 1)
}

/// `[M, K], [K, N] -> [M, N]`.
pub const fn mm(inputs: &[Shape], _plain: &[Plain], _out: usize) -> Step {
    ranked(inputs, 0, 2, 2)
}

/// `[B, M, K], [B, K, N] -> [B, M, N]`.
pub const fn bmm(inputs: &[Shape], _plain: &[Plain], _out: usize) -> Step {
    ranked(inputs, 0, 3, 3)
}

/// `[x, a, b]`: what `x` and the product of two matrices broadcast to.
pub const fn addmm(inputs: &[Shape], _plain: &[Plain], _out: usize) -> Step {
    added(inputs, 2)
}

/// `[x, a, b]`: what `x` and the products of two batches of matrices broadcast to.
pub const fn baddbmm(inputs: &[Shape], _plain: &[Plain], _out: usize) -> Step {
    added(inputs, 3)
}

/// `[M], [N] -> [M, N]`.
pub const fn outer(inputs: &[Shape], _plain: &[Plain], _out: usize) -> Step {
    let (left, right) = (input(inputs, 0), input(inputs, 1));
    if let Some(fail) = not_of_rank(&left, 1) {
        return Step::mistake(fail);
    }
    if let Some(fail) = not_of_rank(&right, 1) {
        return Step::mistake(fail);
    }
    let shape = Shape::of(&[left.last(0), right.last(0)]);
    if left.full() && right.full() { Step::proof(shape) } else { Step::guess(shape) }
}

/// `[.., P, M], [.., R, M] -> [.., P, R]`.
pub const fn cdist(inputs: &[Shape], _plain: &[Plain], _out: usize) -> Step {
    let (left, right) = (input(inputs, 0), input(inputs, 1));
    if left.full() && left.len() < 2 {
        return Step::mistake(Fail::Rank { shape: left, least: 2, most: usize::MAX });
    }
    if right.full() && right.len() < 2 {
        return Step::mistake(Fail::Rank { shape: right, least: 2, most: usize::MAX });
    }
    if left.last(0).differs(&right.last(0)) {
        return Step::mistake(Fail::Unlike { first: left, other: right, operand: 1, axis: Some(left.len() - 1) });
    }
    if right.len() < 2 {
        return Step::UNKNOWN;
    }
    let turned = right.with(right.len() - 1, right.last(1)).with(right.len() - 2, right.last(0));
    matmul(&[left, turned], &[], 0)
}

/// `cross(axis)`: what both broadcast to; the axis has extent 3.
pub const fn cross(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    let step = broadcast(inputs, &[], 0);
    if step.failed() {
        return step;
    }
    match place_of(&argument(plain, 0), &step.shape, 0) {
        Place::At(axis) => {
            let extent = step.shape.axis(axis);
            match extent.literal() {
                Some(3) => step,
                Some(_) => Step::mistake(Fail::Extent { shape: step.shape, axis, needs: 3 }),
                None => step.doubt(Fail::Extent { shape: step.shape, axis, needs: 3 }),
            }
        }
        Place::Unknown => step.doubt(Fail::None),
        Place::Missing(axis) => missing(axis, &step.shape),
    }
}

/// `cosine_similarity(axis)`: what both broadcast to, without the axis.
pub const fn cosine_similarity(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    let step = broadcast(inputs, &[], 0);
    if step.failed() {
        return step;
    }
    let reduced = reduce(&[step.shape], plain, 0);
    if step.proved() || reduced.failed() { reduced } else { Step { shape: reduced.shape, ..step } }
}

/// `[V, N] -> [V, V]`.
pub const fn cov(inputs: &[Shape], _plain: &[Plain], _out: usize) -> Step {
    let shape = input(inputs, 0);
    if let Some(fail) = not_of_rank(&shape, 2) {
        return Step::mistake(fail);
    }
    let square = Shape::of(&[shape.last(1), shape.last(1)]);
    if shape.full() { Step::proof(square) } else { Step::guess(square) }
}

/// Extents multiply, axes aligned at the last.
pub const fn kron(inputs: &[Shape], _plain: &[Plain], _out: usize) -> Step {
    let (left, right) = (input(inputs, 0), input(inputs, 1));
    if !left.full() || !right.full() {
        return Step::UNKNOWN;
    }
    let (mut long, short) = if left.len() >= right.len() { (left, right) } else { (right, left) };
    let mut back = 0;
    while back < short.len() {
        long = long.with(long.len() - 1 - back, long.last(back).mul(short.last(back)));
        back += 1;
    }
    Step::proof(long)
}

/// The shape itself, whose last two axes are equal.
pub const fn square(inputs: &[Shape], _plain: &[Plain], _out: usize) -> Step {
    let shape = input(inputs, 0);
    if (shape.full() && shape.len() < 2) || shape.last(0).differs(&shape.last(1)) {
        return Step::mistake(Fail::Square { shape });
    }
    let step = same(inputs, &[], 0);
    if shape.last(0).same(&shape.last(1)) { step } else { step.doubt(Fail::Square { shape }) }
}

const fn added(inputs: &[Shape], rank: usize) -> Step {
    let product = ranked(inputs, 1, rank, rank);
    if product.failed() {
        return product;
    }
    let sum = broadcast(&[product.shape, input(inputs, 0)], &[], 0);
    if product.proved() || sum.failed() { sum } else { Step { shape: sum.shape, ..product } }
}

/// The product of two operands from `first` on, of these ranks.
const fn ranked(inputs: &[Shape], first: usize, left: usize, right: usize) -> Step {
    let (a, b) = (input(inputs, first), input(inputs, first + 1));
    if let Some(fail) = not_of_rank(&a, left) {
        return Step::mistake(fail);
    }
    if let Some(fail) = not_of_rank(&b, right) {
        return Step::mistake(fail);
    }
    matmul(&[a, b], &[], 0)
}

const fn not_of_rank(shape: &Shape, rank: usize) -> Option<Fail> {
    if shape.len() > rank || (shape.full() && shape.len() != rank) {
        return Some(Fail::Rank { shape: *shape, least: rank, most: rank });
    }
    None
}
