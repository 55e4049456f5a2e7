//! An attribute on a parameter.

use cotangent::prelude::*;

#[kernel]
fn double(#[cfg(test)] x: f32) -> f32 {
    2.0 * x
}

fn main() {}
