//! A truth value where a number is needed.

use cotangent::prelude::*;

#[kernel]
fn shift(c: bool, x: f32) -> f32 {
    x + c
}

fn main() {}
