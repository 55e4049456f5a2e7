//! A call of another kernel without arguments.

use cotangent::prelude::*;

#[kernel]
fn shift(x: f32) -> f32 {
    x + offset()
}

fn main() {}
