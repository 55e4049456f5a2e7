//! Scenario: a letter of an equation stands for two extents.

use cotangent::prelude::*;

#[model]
struct Net {
    #[init(zeros)]
    w: Param![5, 10],
}

#[model]
impl Net {
    fn forward(&self, x: Tensor![B, 4]) -> Tensor![B, 10] {
        einsum("bi,io->bo", (x, self.w))
    }
}

fn main() {}
