//! A dim that starts with a lower-case letter.

use cotangent::prelude::*;

#[kernel]
fn double(x: Tensor![n]) -> Tensor![n] {
    |i| 2.0 * x[i]
}

fn main() {}
