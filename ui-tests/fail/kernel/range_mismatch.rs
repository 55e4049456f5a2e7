//! An index that indexes two different extents.

use cotangent::prelude::*;

#[kernel]
fn product(x: Tensor![R.., C], w: Tensor![D]) -> Tensor![R..] {
    |r| sum(|j| x[r][j] * w[j])
}

fn main() {}
