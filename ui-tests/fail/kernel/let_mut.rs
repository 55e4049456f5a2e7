//! `let mut`.

use cotangent::prelude::*;

#[kernel]
fn double(x: f32) -> f32 {
    let mut y = x;
    2.0 * y
}

fn main() {}
