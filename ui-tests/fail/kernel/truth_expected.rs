//! A number where a truth value is needed.

use cotangent::prelude::*;

#[kernel]
fn choose(x: f32, n: i64) -> f32 {
    if n { x } else { 0.0 }
}

fn main() {}
