//! Leading axes without a name.

use cotangent::prelude::*;

#[kernel]
fn total(x: Tensor![.., C]) -> Tensor![] {
    sum(|r, i| x[r][i])
}

fn main() {}
