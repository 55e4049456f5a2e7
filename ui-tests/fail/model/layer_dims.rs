//! Scenario: dims that a layer does not take, each at its own field.

use cotangent::prelude::*;

#[model]
struct Net {
    few: Linear![4],
    none: Linear,
    many: Linear![1, 2, 3],
    named: Embedding![10, CC = 3],
    drop: Dropout,
}

fn main() {}
