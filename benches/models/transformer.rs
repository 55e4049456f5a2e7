//! Reference model of the budget: a transformer of two blocks.

use cotangent::prelude::*;

#[model(dims(C, H))]
struct Block {
    norm1: LayerNorm![C],
    attention: CausalSelfAttention![C, H],
    norm2: LayerNorm![C],
    up: Linear![C => 4*C],
    down: Linear![4*C => C],
}

#[model]
impl Block {
    fn forward(&self, x: Tensor![B, T, C]) -> Tensor![B, T, C] {
        let x = x + self.attention.forward(self.norm1.forward(x));
        x + self.down.forward(self.up.forward(self.norm2.forward(x)).gelu())
    }
}

#[model(dims(V, S, C, H, L))]
pub(crate) struct Gpt {
    tokens: Embedding![V, C],
    positions: Embedding![S, C],
    blocks: [Block![C, H]; L],
    norm: LayerNorm![C],
}

#[model]
impl Gpt {
    fn forward(&self, ids: Tensor![Int; B, T]) -> Tensor![B, T, V] {
        let mut x = self.tokens.forward(ids) + self.positions.forward(arange(T));
        for block in &self.blocks {
            x = block.forward(x);
        }
        self.tokens.logits(self.norm.forward(x))
    }

    pub(crate) fn loss(&self, ids: Tensor![Int; B, T], next: Tensor![Int; N]) -> Tensor![] {
        self.forward(ids).reshape([B * T, V]).cross_entropy(next)
    }
}

fn main() {
    let device = Device::cpu();
    let config = GptConfig { V: 11, S: 8, C: 8, H: 2, L: 2 };
    let model = Gpt::init(config, &mut Rng::seed(0), &device);
    let ids = Tensor::<Int>::from_slice(&[1, 2, 3, 4], [1, 4], &device);
    let next = Tensor::<Int>::from_slice(&[2, 3, 4, 5], [4], &device);
    let (loss, grads) = model.loss_grad(ids.clone(), next.clone());
    assert!(loss.item() > 0.0 && grads.blocks.len() == 2);
    assert_eq!(model.loss(ids, next).item(), loss.item());
}
