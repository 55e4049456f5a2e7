//! Parameters of whole numbers, or of any rank.

use cotangent::prelude::*;

#[model]
struct Net {
    #[init(zeros)]
    a: Param![Int; 4],
    #[init(zeros)]
    b: Param![.., 4],
}

fn main() {}
