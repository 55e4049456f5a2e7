//! Extents of -1, which PyTorch infers in `view` and keeps in `expand`.

use cotangent::prelude::*;

#[model]
fn merged(x: Tensor![B, 4, T]) -> Tensor![B, 4 * T] {
    x.reshape([B, -1])
}

#[model]
fn repeated(x: Tensor![B, 1]) -> Tensor![B, 4] {
    x.expand([-1, 4])
}

fn main() {}
