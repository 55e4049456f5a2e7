//! `async { .. }`, or `.await`.

use cotangent::prelude::*;

#[kernel]
fn double(x: f32) -> f32 {
    async { 2.0 * x }
}

fn main() {}
