//! An assignment to a parameter that is not `&mut`.

use cotangent::prelude::*;

#[kernel]
fn descend(w: Tensor![N], g: &mut Tensor![N]) {
    |i| {
        g[i] = 0.0;
        w[i] -= g[i];
    }
}

fn main() {}
