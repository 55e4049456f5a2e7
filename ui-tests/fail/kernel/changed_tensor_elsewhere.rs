//! A tensor that is changed and read at other indices than the closure's own.

use cotangent::prelude::*;

#[kernel]
fn difference(w: &mut Tensor![N]) {
    |i| {
        w[i] = w[i] - or_zero(w[i - 1]);
    }
}

fn main() {}
