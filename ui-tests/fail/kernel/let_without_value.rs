//! `let x;`.

use cotangent::prelude::*;

#[kernel]
fn double(x: f32) -> f32 {
    let y;
    2.0 * x
}

fn main() {}
