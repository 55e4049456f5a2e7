//! A number that no value of its type is.

use cotangent::prelude::*;

#[kernel]
fn far(n: i64) -> i64 {
    n + 9223372036854775808
}

fn main() {}
