//! `return` and `?` in a differentiated body.

use cotangent::prelude::*;

#[model]
struct Net {
    fc: Linear![4 => 4],
}

#[model]
impl Net {
    fn forward(&self, x: Tensor![B, 4]) -> Tensor![B, 4] {
        let h = self.fc.forward(x);
        if h.rank() == 3 {
            return h;
        }
        let n = "4".parse::<usize>()?;
        h * n
    }
}

fn main() {}
