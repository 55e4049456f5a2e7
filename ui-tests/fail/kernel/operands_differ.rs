//! Operands of which one is a truth value, or of a bitwise operator one an integer.

use cotangent::prelude::*;

#[kernel]
fn same(c: bool, n: i64) -> bool {
    c == n
}

fn main() {}
