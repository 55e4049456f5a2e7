//! A method that is no function of single values.

use cotangent::prelude::*;

#[kernel]
fn gate(x: f32) -> f32 {
    x * x.sgimoid()
}

fn main() {}
