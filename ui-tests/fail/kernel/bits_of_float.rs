//! A bitwise operation on floats.

use cotangent::prelude::*;

#[kernel]
fn masked(n: i64, x: f32) -> i64 {
    n & x
}

fn main() {}
