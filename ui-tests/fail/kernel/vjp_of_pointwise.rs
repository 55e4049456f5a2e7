//! A derivative by hand of a pointwise kernel.

use cotangent::prelude::*;

#[kernel(vjp = f)]
fn k(x: f32) -> f32 {
    x
}

fn main() {}
