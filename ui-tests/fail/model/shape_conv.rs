//! Scenario: convolutions whose channels, ranks, groups, bias or window do not fit.
use cotangent::prelude::*;

#[model]
pub fn channels(x: Tensor![B, 3, 32, 32], w: Tensor![16, 1, 3, 3]) -> Tensor![B, 16, 30, 30] {
    x.conv2d(w, None, 1, 0, 1, 1)
}

#[model]
pub fn rank(x: Tensor![B, 3, 32], w: Tensor![16, 3, 3, 3]) -> Tensor![B, 16, 30, 30] {
    x.conv2d(w, None, 1, 0, 1, 1)
}

#[model]
pub fn groups(x: Tensor![B, 6, 32, 32], w: Tensor![16, 2, 3, 3]) -> Tensor![B, 16, 30, 30] {
    x.conv2d(w, None, 1, 0, 1, 3)
}

#[model]
pub fn bias(x: Tensor![B, 3, 32, 32], w: Tensor![16, 3, 3, 3], b: Tensor![3]) -> Tensor![B, 16, 30, 30] {
    x.conv2d(w, b, 1, 0, 1, 1)
}

#[model]
pub fn window(x: Tensor![B, 3, 4], w: Tensor![16, 3, 7]) -> Tensor![B, 16, 1] {
    x.conv1d(w, None, 1, 1, 1, 1)
}

#[model]
pub fn result(x: Tensor![B, 3, H, W], w: Tensor![16, 3, 3, 3]) -> Tensor![B, 16, H, W] {
    x.conv2d(w, None, 1, 0, 1, 1)
}

#[model]
pub fn transposed(x: Tensor![B, 3, 4, 4], w: Tensor![4, 8, 2, 2]) -> Tensor![B, 8, 8, 8] {
    x.conv_transpose2d(w, None, 2, 0, 0, 1, 1)
}

fn main() {}
