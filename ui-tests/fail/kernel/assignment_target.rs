//! An assignment to something that is no element.

use cotangent::prelude::*;

#[kernel]
fn clear(w: &mut Tensor![N]) {
    |i| {
        w[i] = 0.0;
        w[i] + 1.0 = 0.0;
    }
}

fn main() {}
