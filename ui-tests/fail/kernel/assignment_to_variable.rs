//! An assignment to a variable.

use cotangent::prelude::*;

#[kernel]
fn double(w: &mut Tensor![N]) {
    |i| {
        let y = w[i];
        y = 2.0 * y;
        w[i] = y;
    }
}

fn main() {}
