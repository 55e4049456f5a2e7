//! The wrong number of arguments.

use cotangent::prelude::*;

#[kernel]
fn grow(x: f32) -> f32 {
    exp(x, x)
}

fn main() {}
