use cotangent::prelude::*;

#[model]
struct Net {
    fc: Linear![4 => 4],
}

#[model]
impl Net {
    fn forward(&self, x: Tensor![B, 4]) -> Tensor![B, 4] {
        #[checkpont]
        let h = self.fc.forward(x);
        #[allow(clippy::let_and_return)]
        let h = #[inline] h.relu();
        h
    }
}

fn main() {}
