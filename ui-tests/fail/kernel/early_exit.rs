//! A jump out of the body.

use cotangent::prelude::*;

#[kernel]
fn positive(x: f32) -> f32 {
    if x > 0.0 {
        return x;
    } else {
        0.0
    }
}

fn main() {}
