//! A value that is a tuple where none is declared, or the other way round.

use cotangent::prelude::*;

#[kernel]
fn double(x: f32) -> f32 {
    let (a, b): (f32, f32) = x;
    a + b
}

fn main() {}
