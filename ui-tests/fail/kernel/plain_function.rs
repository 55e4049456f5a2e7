//! Generics, and words before `fn`.

use cotangent::prelude::*;

#[kernel]
fn scale<T: Copy>(x: f32, by: f32) -> f32 {
    x * by
}

fn main() {}
