//! Scenario: masks and indices have shapes too, inside one expression as well.
use cotangent::prelude::*;

#[model]
pub fn masked(x: Tensor![B, 8], y: Tensor![B, 4]) -> Tensor![B, 8] {
    let small = x.lt(0.0) & y.gt(1.0);
    x.masked_fill(small, 0.0)
}

#[model]
pub fn picked(x: Tensor![B, 8], table: Tensor![16, 3]) -> Tensor![B, 4] {
    let best = x.argmax(1);
    table.embedding(best)
}

fn main() {}
