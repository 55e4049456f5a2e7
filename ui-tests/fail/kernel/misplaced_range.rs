//! A range that nothing takes.

use cotangent::prelude::*;

#[kernel]
fn double(x: f32) -> f32 {
    let r = 0..3;
    2.0 * x
}

fn main() {}
