//! `a = b` where a value is needed.

use cotangent::prelude::*;

#[kernel]
fn grow(x: f32) -> f32 {
    exp(x = 2.0)
}

fn main() {}
