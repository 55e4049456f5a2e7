//! `if let`.

use cotangent::prelude::*;

#[kernel]
fn double(x: f32) -> f32 {
    if let y = x { 2.0 * y } else { x }
}

fn main() {}
