//! A parameter of a type that kernels do not have.

use cotangent::prelude::*;

#[kernel]
fn double(x: f64) -> f32 {
    2.0 * x
}

fn main() {}
