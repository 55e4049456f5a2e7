//! `#[kernel]` on anything but a function.

use cotangent::prelude::*;

#[kernel]
struct Swish;

fn main() {}
