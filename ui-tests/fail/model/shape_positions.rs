//! Scenario: positions, sources and masks that do not lie beside the tensor.

use cotangent::prelude::*;

#[model]
pub fn gathered(x: Tensor![B, 4], at: Tensor![Int; B]) -> Tensor![B] {
    x.gather(1, at)
}

#[model]
pub fn scattered(x: Tensor![B, 4], at: Tensor![Int; T, 4], src: Tensor![T, 3]) -> Tensor![B, 4] {
    x.scatter_add(0, at, src)
}

#[model]
pub fn selected(x: Tensor![B, 4], at: Tensor![Int; T, 1]) -> Tensor![T, 4] {
    x.index_select(0, at)
}

#[model]
pub fn filled(x: Tensor![B, 4], at: Tensor![Int; T]) -> Tensor![B, 4] {
    x.index_fill(2, at, 0.0)
}

#[model]
pub fn added(x: Tensor![B, 4], at: Tensor![Int; T], src: Tensor![B + T, 4]) -> Tensor![B, 4] {
    x.index_add(0, at, src)
}

#[model]
pub fn taken(x: Tensor![B, 4], at: Tensor![Int; T, 2]) -> Tensor![B, 3] {
    x.take(at)
}

#[model]
pub fn along(x: Tensor![B, 4], at: Tensor![Int; 4]) -> Tensor![B, 4] {
    x.take_along_dim(at, 1)
}

#[model]
pub fn chosen(x: Tensor![B, 4], mask: Tensor![Bool; 3]) -> Tensor![] {
    x.masked_select(mask).sum(..)
}

#[model]
pub fn replaced(x: Tensor![4], mask: Tensor![Bool; B, 4], src: Tensor![T]) -> Tensor![4] {
    x.masked_scatter(mask, src)
}

fn main() {}
