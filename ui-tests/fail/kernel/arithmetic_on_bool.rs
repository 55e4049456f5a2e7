//! `-true`.

use cotangent::prelude::*;

#[kernel]
fn shift(x: f32) -> f32 {
    x + -true
}

fn main() {}
