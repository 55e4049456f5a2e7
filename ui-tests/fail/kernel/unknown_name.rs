//! A name that stands for nothing.

use cotangent::prelude::*;

#[kernel]
fn double(scale: f32) -> f32 {
    2.0 * sacle
}

fn main() {}
