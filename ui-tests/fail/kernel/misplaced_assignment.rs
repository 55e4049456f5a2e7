//! An assignment anywhere but in the closure over the output's indices.

use cotangent::prelude::*;

#[kernel]
fn clear(w: &mut Tensor![N]) {
    w[0] = 1.0;
    |i| {
        w[i] = 0.0;
    }
}

fn main() {}
