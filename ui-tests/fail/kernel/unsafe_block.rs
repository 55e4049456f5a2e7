//! `unsafe { .. }`.

use cotangent::prelude::*;

#[kernel]
fn double(x: f32) -> f32 {
    unsafe { 2.0 * x }
}

fn main() {}
