//! A kernel that calls itself.

use cotangent::prelude::*;

#[kernel]
fn double(x: f32) -> f32 {
    x + double(x)
}

fn main() {}
