//! A suffix that is no type of kernels.

use cotangent::prelude::*;

#[kernel]
fn next(n: i64) -> i64 {
    n + 1u8
}

fn main() {}
