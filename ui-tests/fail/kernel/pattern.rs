//! A pattern other than names and tuples of them.

use cotangent::prelude::*;

#[kernel]
fn double(x: f32) -> f32 {
    let [y] = x;
    2.0 * x
}

fn main() {}
