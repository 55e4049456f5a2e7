//! A body that is code for the device.

use cotangent::prelude::*;

#[kernel(raw)]
fn double(x: f32) -> f32 {
    2.0 * x
}

fn main() {}
