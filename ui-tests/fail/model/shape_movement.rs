//! Scenario: axes that are moved, cut or repeated and are not there.

use cotangent::prelude::*;

#[model]
pub fn flipped(x: Tensor![B, 4]) -> Tensor![B, 4] {
    x.flip([0, 2])
}

#[model]
pub fn rolled(x: Tensor![B, 4]) -> Tensor![B, 4] {
    x.roll(1, 2)
}

#[model]
pub fn turned(x: Tensor![B, 4]) -> Tensor![B, 4] {
    x.rot90(1, [0, 2])
}

#[model]
pub fn moved(x: Tensor![B, T, 4]) -> Tensor![B, T, 4] {
    x.movedim(0, 3)
}

#[model]
pub fn repeated(x: Tensor![B, 4]) -> Tensor![2 * B, 4] {
    x.repeat([2])
}

#[model]
pub fn tiled(x: Tensor![B, 4]) -> Tensor![B, 4] {
    x.tile([3])
}

#[model]
pub fn interleaved(x: Tensor![B, 4]) -> Tensor![B, 4] {
    x.repeat_interleave(1, 2)
}

#[model]
pub fn counted(x: Tensor![B, 4], counts: Tensor![Int; B]) -> Tensor![T, 4] {
    x.repeat_interleave_each(2, counts)
}

#[model]
pub fn cut(x: Tensor![B, 12]) -> Tensor![B, 3, 5] {
    x.unflatten(1, [3, 5])
}

#[model]
pub fn parts(x: Tensor![B, 4]) -> Tensor![B, 4] {
    let parts = x.chunk(2, 2);
    parts[0]
}

#[model]
pub fn entries(x: Tensor![B, 4]) -> Tensor![B] {
    let rows = x.unbind(2);
    rows[0]
}

#[model]
pub fn grown(x: Tensor![3], y: Tensor![B, 4]) -> Tensor![B, 4] {
    x.expand_as(y)
}

#[model]
pub fn other(x: Tensor![B, 4], y: Tensor![B, 3]) -> Tensor![B, 3] {
    x.reshape_as(y)
}

#[model]
pub fn beside(x: Tensor![3, 4], y: Tensor![2, 4]) -> Tensor![3, 8] {
    hstack([x, y])
}

#[model]
pub fn below(x: Tensor![3, 4], y: Tensor![3, 2]) -> Tensor![6, 4] {
    vstack([x, y])
}

#[model]
pub fn grid(x: Tensor![3, 4], y: Tensor![2]) -> Tensor![3, 2] {
    let parts = meshgrid([x, y]);
    parts[0]
}

fn main() {}
