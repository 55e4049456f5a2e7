//! A list whose length is no dim.

use cotangent::prelude::*;

#[model]
struct Net {
    blocks: [Linear![4 => 4]; count()],
}

fn main() {}
