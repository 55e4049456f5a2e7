//! Scenario: A function whose name has two letters swapped.

use cotangent::prelude::*;

#[kernel]
fn k(x: f32) -> f32 {
    gleu(x) + tahn(x)
}

fn main() {}
