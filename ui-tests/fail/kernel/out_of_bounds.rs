//! An index that is not proved inside.

use cotangent::prelude::*;

#[kernel]
fn difference(x: Tensor![R.., N]) -> Tensor![R.., N] {
    |r, i| x[r][i] - x[r][i - 1]
}

fn main() {}
