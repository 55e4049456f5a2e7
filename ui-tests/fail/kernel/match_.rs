//! A `match`.

use cotangent::prelude::*;

#[kernel]
fn first(n: i64) -> i64 {
    match n {
        0 => 1,
        _ => 0,
    }
}

fn main() {}
