//! A tuple struct.

use cotangent::prelude::*;

#[model]
struct Net(Linear![4 => 4]);

fn main() {}
