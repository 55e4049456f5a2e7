//! A tuple with too many parts.

use cotangent::prelude::*;

#[kernel]
fn many(x: f32) -> f32 {
    let t = (x, x, x, x);
    let t = (t, t, t, t);
    let t = (t, t, t, t, t);
    x
}

fn main() {}
