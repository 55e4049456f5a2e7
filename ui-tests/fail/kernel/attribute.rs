//! An attribute on a statement.

use cotangent::prelude::*;

#[kernel]
fn double(x: f32) -> f32 {
    #[cfg(test)]
    let x = x + 1.0;
    2.0 * x
}

fn main() {}
