//! A macro.

use cotangent::prelude::*;

#[kernel]
fn double(x: f32) -> f32 {
    println!("{x}");
    2.0 * x
}

fn main() {}
