//! `let .. else`.

use cotangent::prelude::*;

#[kernel]
fn double(x: f32) -> f32 {
    let y = x else { x };
    2.0 * y
}

fn main() {}
