//! A constant that the macro cannot know.

use cotangent::prelude::*;

#[kernel]
fn shift(x: f32) -> f32 {
    x + crate::EPSILON
}

fn main() {}
