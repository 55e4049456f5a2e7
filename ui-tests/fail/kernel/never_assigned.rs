//! A tensor that is `&mut` in vain.

use cotangent::prelude::*;

#[kernel]
fn double(w: &mut Tensor![N]) -> Tensor![N] {
    |i| 2.0 * w[i]
}

fn main() {}
