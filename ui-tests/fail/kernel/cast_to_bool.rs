//! A cast to `bool`.

use cotangent::prelude::*;

#[kernel]
fn nonzero(x: f32) -> bool {
    x as bool
}

fn main() {}
