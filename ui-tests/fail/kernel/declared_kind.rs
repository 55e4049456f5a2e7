//! A value of another kind than is declared.

use cotangent::prelude::*;

#[kernel]
fn whole(x: f32) -> i64 {
    2.0 * x
}

fn main() {}
