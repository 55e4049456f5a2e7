//! A list of a generic layer with a length.

use cotangent::prelude::*;

#[model(dims(L))]
struct Net<T: Layer> {
    layers: [T; L],
}

fn main() {}
