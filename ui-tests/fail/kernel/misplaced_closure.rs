//! A closure that nothing takes.

use cotangent::prelude::*;

#[kernel]
fn double(x: f32) -> f32 {
    let twice = |y| y + y;
    2.0 * x
}

fn main() {}
