//! One closure for outputs of different dims.

use cotangent::prelude::*;

#[kernel]
fn edges(x: Tensor![N, M]) -> (Tensor![N], Tensor![M]) {
    |i| (x[i][0], x[0][i])
}

fn main() {}
