//! A call of something that is no path.

use cotangent::prelude::*;

#[kernel]
fn double(x: f32) -> f32 {
    (x + x)(x)
}

fn main() {}
