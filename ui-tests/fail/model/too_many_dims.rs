//! More dims than the shape engine has room for.

use cotangent::prelude::*;

#[model(dims(A, B, C, D, E, F, G, H, I))]
struct Net {
    fc: Linear![A => B],
}

fn main() {}
