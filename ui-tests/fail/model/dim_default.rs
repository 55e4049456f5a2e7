//! A default that is no number, and a dim without one after it.

use cotangent::prelude::*;

#[model(dims(C, K = 2 * C, D = 3, E))]
struct Net {
    fc: Linear![C => K],
}

fn main() {}
