//! A parameter of a pointwise kernel that is no element.

use cotangent::prelude::*;

#[kernel]
fn scale(x: f32, n: usize) -> f32 {
    x * n
}

fn main() {}
