//! A variant that holds no layer.

use cotangent::prelude::*;

#[model]
enum Stage {
    Width(usize),
    Layers(Vec<Linear![4 => 4]>),
}

fn main() {}
