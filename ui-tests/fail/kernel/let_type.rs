//! The type of a variable.

use cotangent::prelude::*;

#[kernel]
fn double(x: f32) -> f32 {
    let y: f64 = x;
    2.0 * y
}

fn main() {}
