//! A truth value as an argument of another kernel.

use cotangent::prelude::*;

#[kernel]
fn gated(c: bool, x: f32) -> f32 {
    x * swish(c)
}

fn main() {}
