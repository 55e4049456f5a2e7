//! Leading axes without a name.

use cotangent::prelude::*;

#[kernel]
fn double(x: Tensor![.., C]) -> Tensor![R.., C] {
    |r, i| 2.0 * x[r][i]
}

fn main() {}
