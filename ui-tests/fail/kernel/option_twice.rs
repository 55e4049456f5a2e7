//! An option that is given twice.

use cotangent::prelude::*;

#[kernel(vjp = first, vjp = second)]
fn double(x: f32) -> f32 {
    2.0 * x
}

fn main() {}
