use cotangent::prelude::*;

#[model]
struct Net {
    #[checkpoint]
    fc: Linear![4 => 4],
}

#[model]
struct Deep {
    fc: Linear![4 => 4],
}

#[model]
impl Deep {
    #[checkpoint]
    fn forward(&self, x: Tensor![B, 4]) -> Tensor![B, 4] {
        #[checkpoint]
        const TWO: f64 = 2.0;
        let mut x = x;
        #[checkpoint]
        x = self.fc.forward(x);
        #[checkpoint]
        if x.size(0) > 2 {
            x = x * TWO;
        }
        let mut all = vec![];
        #[checkpoint]
        all.push(x);
        cat(all, 0)
    }
}

fn main() {}
