//! A GPT of 17.0 million parameters.

use super::Training;
use cotangent::prelude::*;
use std::hint::black_box;

/// Sequences of a batch, and their length.
const BATCH: usize = 4;
const CONTEXT: usize = 256;
const VOCABULARY: usize = 8192;

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
struct Gpt {
    tokens: Embedding![V, C],
    positions: Embedding![S, C],
    blocks: [Block![C, H]; L],
    norm: LayerNorm![C],
    head: Linear![C => V, bias = false],
}

#[model]
impl Gpt {
    fn forward(&self, ids: Tensor![Int; B, T]) -> Tensor![B, T, V] {
        let mut x = self.tokens.forward(ids) + self.positions.forward(arange(T));
        for block in &self.blocks {
            x = block.forward(x);
        }
        self.head.forward(self.norm.forward(x))
    }

    fn loss(&self, ids: Tensor![Int; B, T], next: Tensor![Int; B, T]) -> Tensor![] {
        self.forward(ids).cross_entropy(next)
    }
}

/// The model and a batch of tokens.
pub struct Text {
    model: Gpt,
    optimiser: Adam,
    ids: Tensor<Int>,
    next: Tensor<Int>,
}

impl Training for Text {
    fn new() -> Text {
        let (device, mut rng) = (Device::cpu(), Rng::seed(0));
        let config = GptConfig { V: VOCABULARY, S: CONTEXT, C: 384, H: 6, L: 6 };
        let model = Gpt::init(config, &mut rng, &device);
        let mut tokens = || Tensor::<Int>::randint(0, VOCABULARY as i64, [BATCH, CONTEXT], &mut rng, &device);
        let (ids, next) = (tokens(), tokens());
        Text { model, optimiser: Adam::new(3e-4), ids, next }
    }

    fn forward(&self) {
        black_box(self.model.forward(self.ids.clone()));
    }

    fn step(&mut self) -> f64 {
        let (loss, grads) = self.model.loss_grad(self.ids.clone(), self.next.clone());
        self.optimiser.step(&mut self.model, grads);
        loss.item().into()
    }
}
