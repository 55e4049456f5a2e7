//! `f::<T>(x)`.

use cotangent::prelude::*;

#[kernel]
fn grow(x: f32) -> f32 {
    exp::<f32>(x)
}

fn main() {}
