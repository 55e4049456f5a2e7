//! Several layers for a field that holds one.

use cotangent::prelude::*;

#[model]
struct Net {
    #[init(Relu, Relu)]
    act: Box<dyn Layer>,
}

fn main() {}
