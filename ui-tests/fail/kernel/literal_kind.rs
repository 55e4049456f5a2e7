//! A literal that is neither a number nor a truth value.

use cotangent::prelude::*;

#[kernel]
fn next(n: i64) -> i64 {
    n + "1"
}

fn main() {}
