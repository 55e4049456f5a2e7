//! Scenario: a field that is no layer, which is reported once.

use cotangent::prelude::*;

#[derive(Clone)]
struct NotALayer;

#[model]
struct Net {
    a: NotALayer,
    fc: Linear![4 => 4],
}

fn main() {}
