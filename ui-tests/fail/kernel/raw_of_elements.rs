//! A raw kernel over elements.

use cotangent::prelude::*;

#[kernel(raw, cpu = f)]
fn k(x: f32) -> f32 {}

fn main() {}
