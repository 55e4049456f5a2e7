//! A parameter that is a pattern.

use cotangent::prelude::*;

#[kernel]
fn product((a, b): f32, c: f32) -> f32 {
    2.0 * c
}

fn main() {}
