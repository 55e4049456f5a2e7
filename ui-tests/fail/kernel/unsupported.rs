//! An expression of Rust that kernels do not have.

use cotangent::prelude::*;

#[kernel]
fn total(x: f32, y: f32) -> f32 {
    let both = [x, y];
    x + y
}

fn main() {}
