//! An `if` that has no value in one case.

use cotangent::prelude::*;

#[kernel]
fn clear(w: &mut Tensor![N], all: bool) {
    |i| {
        if all {
            w[i] = 0.0;
        }
    }
}

fn main() {}
