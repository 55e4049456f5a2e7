//! More or fewer closures than outputs.

use cotangent::prelude::*;

#[kernel]
fn both(x: Tensor![N]) -> (Tensor![N], Tensor![N]) {
    (|i| x[i], |i| x[i], |i| x[i])
}

fn main() {}
