//! More or fewer values than results.

use cotangent::prelude::*;

#[kernel]
fn both(x: f32) -> (f32, f32) {
    x
}

fn main() {}
