//! Scenario: slices and single entries that an axis does not have.

use cotangent::prelude::*;

#[model]
pub fn beyond(x: Tensor![B, 4]) -> Tensor![B] {
    x.slice(s![.., 4])
}

#[model]
pub fn deep(x: Tensor![B, 4]) -> Tensor![B, 4] {
    x.slice(s![.., 1.., 0..2])
}

#[model]
pub fn shorter(x: Tensor![B, T, 4]) -> Tensor![B, T, 4] {
    x.slice(s![.., 1.., ..;2])
}

#[model]
pub fn assigned(x: Tensor![B, 4], y: Tensor![B, 2]) -> Tensor![B, 4] {
    x.slice_assign(s![.., ..3], y)
}

#[model]
pub fn entry(x: Tensor![B, 4]) -> Tensor![B] {
    x.select(1, -5)
}

fn main() {}
