//! A tuple of one result.

use cotangent::prelude::*;

#[kernel]
fn double(x: f32) -> (f32,) {
    (2.0 * x,)
}

fn main() {}
