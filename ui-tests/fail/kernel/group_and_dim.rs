//! A name that stands for leading axes in one shape and for one axis in another.

use cotangent::prelude::*;

#[kernel]
fn scale(x: Tensor![R.., C], by: Tensor![R]) -> Tensor![R.., C] {
    |r, i| x[r][i] * by[r]
}

fn main() {}
