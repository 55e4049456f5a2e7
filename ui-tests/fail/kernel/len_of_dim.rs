//! `len` of anything but a dim.

use cotangent::prelude::*;

#[kernel]
fn average(x: Tensor![N]) -> Tensor![] {
    sum(|i| x[i]) / len(x)
}

fn main() {}
