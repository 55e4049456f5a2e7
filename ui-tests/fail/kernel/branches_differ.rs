//! Branches of which one is a truth value.

use cotangent::prelude::*;

#[kernel]
fn choose(c: bool, x: f32) -> f32 {
    if c { x } else { c }
}

fn main() {}
