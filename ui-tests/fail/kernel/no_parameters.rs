//! A pointwise kernel without anything to be pointwise over.

use cotangent::prelude::*;

#[kernel]
fn one() -> f32 {
    1.0
}

fn main() {}
