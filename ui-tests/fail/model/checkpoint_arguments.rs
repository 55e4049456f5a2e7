use cotangent::prelude::*;

#[model]
struct Net {
    fc: Linear![4 => 4],
}

#[model]
impl Net {
    fn forward(&self, x: Tensor![B, 4]) -> Tensor![B, 4] {
        #[checkpoint(every = 2)]
        let h = self.fc.forward(x);
        h.relu()
    }
}

fn main() {}
