//! A tuple where one value is needed.

use cotangent::prelude::*;

#[kernel]
fn double(x: f32) -> f32 {
    (x, x) + 1.0
}

fn main() {}
