use cotangent::prelude::*;

#[model]
struct Net {
    blocks: [Linear![4 => 4]; 2],
}

#[model]
impl Net {
    fn forward(&self, x: Tensor![B, 4]) -> Tensor![B, 4] {
        #[checkpoint]
        let rows = x.size(0);
        #[checkpoint]
        let first = &self.blocks[0];
        #[checkpoint]
        for block in self.blocks.iter() {
            println!("{}", block.weight.numel());
        }
        x * rows.max(#[checkpoint] x.numel())
    }

    #[no_grad]
    fn predict(&self, x: Tensor![B, 4]) -> Tensor![B, 4] {
        #[checkpoint]
        self.forward(x)
    }
}

fn main() {}
