//! Branches that are tuples of different forms.

use cotangent::prelude::*;

#[kernel]
fn pair(c: bool, x: f32) -> (f32, f32) {
    if c { (x, x) } else { x }
}

fn main() {}
