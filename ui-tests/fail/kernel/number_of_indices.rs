//! More or fewer indices than axes.

use cotangent::prelude::*;

#[kernel]
fn double(x: Tensor![R.., C]) -> Tensor![R.., C] {
    |r, i| 2.0 * x[r]
}

fn main() {}
