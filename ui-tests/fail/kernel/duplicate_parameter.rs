//! Two parameters of one name.

use cotangent::prelude::*;

#[kernel]
fn product(x: f32, x: i64) -> f32 {
    2.0 * x
}

fn main() {}
