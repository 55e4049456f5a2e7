//! A random number from something that is no stream.

use cotangent::prelude::*;

#[kernel]
fn noise(x: Tensor![N], seed: i64) -> Tensor![N] {
    |i| x[i] + uniform(seed, i)
}

fn main() {}
