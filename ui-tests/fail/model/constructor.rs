//! An operand that may be left out, given as `Some` of a tensor.

use cotangent::prelude::*;

#[model]
struct Affine {
    #[init(ones)]
    w: Param![3, 4],
    #[init(zeros)]
    b: Param![3],
}

#[model]
impl Affine {
    fn forward(&self, x: Tensor![B, 4]) -> Tensor![B, 3] {
        x.linear(self.w, Some(self.b))
    }
}

fn main() {}
