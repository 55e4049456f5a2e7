//! A value at the end of a closure that only assigns.

use cotangent::prelude::*;

#[kernel]
fn clear(w: &mut Tensor![N]) {
    |i| {
        w[i] = 0.0;
        w[i]
    }
}

fn main() {}
