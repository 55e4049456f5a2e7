//! A tensor as a field.

use cotangent::prelude::*;

#[model]
struct Net {
    a: Tensor![4],
    b: Tensor,
    c: Param,
}

fn main() {}
