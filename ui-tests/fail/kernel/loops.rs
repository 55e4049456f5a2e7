//! A loop.

use cotangent::prelude::*;

#[kernel]
fn total(x: Tensor![N]) -> Tensor![] {
    for i in 0..3 {
        x[i];
    }
}

fn main() {}
