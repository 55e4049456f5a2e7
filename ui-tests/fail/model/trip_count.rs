//! Loops whose trip count is not known on entry, several reported in one pass.

use cotangent::prelude::*;

#[model]
struct Net {
    fc: Linear![4 => 4],
}

#[model]
impl Net {
    fn forward(&self, x: Tensor![B, 4]) -> Tensor![B, 4] {
        let mut h = x;
        let mut i = 0;
        while i < 3 {
            h = self.fc.forward(h);
            i += 1;
        }
        loop {
            break;
        }
        h
    }
}

fn main() {}
