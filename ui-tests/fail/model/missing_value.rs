//! A branch one arm of which has no value.

use cotangent::prelude::*;

#[model]
struct Net {
    fc: Linear![4 => 4],
}

#[model]
impl Net {
    fn forward(&self, x: Tensor![B, 4]) -> Tensor![B, 4] {
        let n = x.size(0);
        let h = if n > 2 {
            self.fc.forward(x)
        } else {
            println!("{n}");
        };
        h
    }
}

fn main() {}
