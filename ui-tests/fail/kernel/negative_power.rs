//! A negative power of an integer.

use cotangent::prelude::*;

#[kernel]
fn inverse(n: i64) -> i64 {
    n.powi(-1)
}

fn main() {}
