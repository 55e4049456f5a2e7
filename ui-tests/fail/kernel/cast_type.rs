//! A cast to anything else.

use cotangent::prelude::*;

#[kernel]
fn double(x: f32) -> f32 {
    2.0 * (x as f64)
}

fn main() {}
