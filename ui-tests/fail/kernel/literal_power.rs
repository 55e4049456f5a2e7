//! A power that is no literal.

use cotangent::prelude::*;

#[kernel]
fn power(x: f32, n: i64) -> f32 {
    x.powi(n)
}

fn main() {}
