//! An item inside of the body.

use cotangent::prelude::*;

#[kernel]
fn double(x: f32) -> f32 {
    const TWO: f32 = 2.0;
    2.0 * x
}

fn main() {}
