//! A tuple of names that does not fit its value.

use cotangent::prelude::*;

#[kernel]
fn total(x: f32) -> f32 {
    let (a, b) = (x, x, x);
    a + b
}

fn main() {}
