//! An assignment at other indices than the closure's own.

use cotangent::prelude::*;

#[kernel]
fn transpose(w: &mut Tensor![N, N]) {
    |i, j| {
        w[j][i] = 0.0;
    }
}

fn main() {}
