use cotangent::prelude::*;

#[model(dims(C))]
struct Halving {
    fc: Linear![C => C],
}

#[model]
impl Halving {
    fn forward(&self, x: Tensor![B, C], n: usize) -> Tensor![B, C] {
        let x = self.fc.forward(x).tanh();
        if n > 1 { self.forward(x, n / 2) } else { x }
    }
}

#[model]
fn halve(x: Tensor![B], n: usize) -> Tensor![B] {
    if n > 1 { halve(x * 0.5, n / 2) } else { x }
}

fn main() {}
