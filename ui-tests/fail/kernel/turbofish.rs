//! `x.f::<T>()`.

use cotangent::prelude::*;

#[kernel]
fn grow(x: f32) -> f32 {
    x.exp::<f32>()
}

fn main() {}
