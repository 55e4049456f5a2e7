//! A parameter that bears the name of a dim.

use cotangent::prelude::*;

#[kernel]
fn shift(x: Tensor![N], N: usize) -> Tensor![N] {
    |i| x[i] + N
}

fn main() {}
