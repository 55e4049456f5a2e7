//! Scenario: pools whose windows are longer than the axes, and norms of other channels.
use cotangent::prelude::*;

#[model]
pub fn longer(x: Tensor![B, 3, 4, 4]) -> Tensor![B, 3, 1, 1] {
    x.max_pool2d(5)
}

#[model]
pub fn result(x: Tensor![B, 3, 28, 27]) -> Tensor![B, 3, 14, 14] {
    x.avg_pool2d(2)
}

#[model]
pub fn rank(x: Tensor![9]) -> Tensor![3] {
    x.adaptive_avg_pool2d(3)
}

#[model]
pub fn norm(x: Tensor![B, 4, L], w: Tensor![3]) -> Tensor![B, 4, L] {
    let (y, mean, var) = x.batch_norm(w, None, 1e-5);
    y + mean.sum(..) + var.sum(..)
}

fn main() {}
