//! Scenario: Two kernels that call each other.

use cotangent::prelude::*;

#[kernel]
fn even(x: f32) -> f32 {
    if x < 1.0 { 1.0 } else { odd(x - 1.0) }
}

#[kernel]
fn odd(x: f32) -> f32 {
    if x < 1.0 { 0.0 } else { even(x - 1.0) }
}

fn main() {}
