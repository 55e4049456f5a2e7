//! Scenario: options that a layer does not have, or of another type.

use cotangent::prelude::*;

#[model]
struct Net {
    misspelt: Linear![4 => 4, biass = false],
    other: Linear![4 => 4, bias = 3],
}

fn main() {}
