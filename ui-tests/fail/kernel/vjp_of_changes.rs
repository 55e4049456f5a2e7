//! A derivative of a kernel that changes its argument.

use cotangent::prelude::*;

#[kernel(vjp = f)]
fn k(x: &mut Tensor![N]) {
    |i| {
        x[i] = 0.0;
    }
}

fn main() {}
