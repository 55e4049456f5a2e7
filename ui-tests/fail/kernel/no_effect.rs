//! A statement whose value is dropped.

use cotangent::prelude::*;

#[kernel]
fn double(x: f32) -> f32 {
    x + 1.0;
    2.0 * x
}

fn main() {}
