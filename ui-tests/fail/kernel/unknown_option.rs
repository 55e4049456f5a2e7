//! An option that does not exist.

use cotangent::prelude::*;

#[kernel(vpj = double_vjp)]
fn double(x: f32) -> f32 {
    2.0 * x
}

fn main() {}
