//! A random stream where a number is needed.

use cotangent::prelude::*;

#[kernel]
fn noise(x: Tensor![N], key: Key) -> Tensor![N] {
    |i| x[i] + key
}

fn main() {}
