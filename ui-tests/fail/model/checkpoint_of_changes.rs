use cotangent::prelude::*;

#[model]
struct Net {
    fc: Linear![4 => 4],
}

#[model]
impl Net {
    fn forward(&self, x: Tensor![B, 4], seen: &mut Vec<usize>) -> Tensor![B, 4] {
        #[checkpoint]
        let h = {
            seen.push(x.size(0));
            self.fc.forward(x)
        };
        h.relu()
    }
}

fn main() {}
