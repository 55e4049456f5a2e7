//! Scenario: diagonals, triangles, windows and borders of tensors that are too small for them.

use cotangent::prelude::*;

#[model]
pub fn lower(x: Tensor![B]) -> Tensor![B] {
    x.tril(0)
}

#[model]
pub fn line(x: Tensor![B, T, T]) -> Tensor![B, T] {
    x.diagonal(1, 1, 2)
}

#[model]
pub fn both(x: Tensor![B, T, T]) -> Tensor![B, T] {
    x.diag(0)
}

#[model]
pub fn embedded(x: Tensor![B, T]) -> Tensor![B, T, T] {
    x.diag_embed(0, 1, 3)
}

#[model]
pub fn traced(x: Tensor![B, T, T]) -> Tensor![] {
    x.trace()
}

#[model]
pub fn windows(x: Tensor![B, 4]) -> Tensor![B, 1, 5] {
    x.unfold(1, 5, 1)
}

#[model]
pub fn bordered(x: Tensor![B, 4]) -> Tensor![B, 6] {
    x.pad([1, 1, 0], 0.0)
}

#[model]
pub fn mirrored(x: Tensor![B, 4]) -> Tensor![B, 5] {
    x.pad_with([1, 1], PadMode::Reflect)
}

fn main() {}
