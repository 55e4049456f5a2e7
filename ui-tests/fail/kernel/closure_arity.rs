//! A closure with more or fewer indices than the output has axes.

use cotangent::prelude::*;

#[kernel]
fn double(x: Tensor![R.., C]) -> Tensor![R.., C] {
    |i| 2.0 * x[0][i]
}

fn main() {}
