//! What checkpoints keep, and the peak of a step with them. Alone in its binary, since the bytes are the process's.

use cotangent::diff::{Pullback, Want};
use cotangent::prelude::*;
use cotangent_cpu::CpuBackend;

const ROWS: usize = 256;
const LAYERS: usize = 24;
/// Bytes of one `Tensor![ROWS, 64]`.
const INPUT: usize = ROWS * 64 * 4;

#[model]
struct Block {
    up: Linear![64 => 128],
    drop: Dropout![p = 0.1],
    down: Linear![128 => 64],
    norm: LayerNorm![64],
}

#[model]
impl Block {
    fn forward(&self, x: Tensor![B, 64], cx: &mut Cx) -> Tensor![B, 64] {
        let h = self.drop.forward(self.up.forward(self.norm.forward(x)).gelu(), cx);
        x + self.down.forward(h)
    }
}

#[model]
struct Deep {
    blocks: [Block; { LAYERS }],
}

#[model]
impl Deep {
    fn plain(&self, x: Tensor![B, 64], cx: &mut Cx) -> Tensor![] {
        let mut x = x;
        for block in self.blocks.iter() {
            x = block.forward(x, cx);
        }
        x.square().mean(..)
    }

    fn kept(&self, x: Tensor![B, 64], cx: &mut Cx) -> Tensor![] {
        let mut x = x;
        #[checkpoint]
        for block in self.blocks.iter() {
            x = block.forward(x, cx);
        }
        x.square().mean(..)
    }
}

#[test]
fn a_loop_keeps_one_input_an_iteration() {
    let (device, mut rng, pool) = (Device::cpu(), Rng::seed(0), CpuBackend::shared());
    let model = Deep::init(&mut rng, &device);
    let x = Tensor::randn([ROWS, 64], &mut rng, &device);
    let ct = || Some(Tensor::ones([0; 0], &device));

    // The pool gives nothing back to the system this early, so that what it holds is the most that was in use.
    let (used, held) = (pool.memory().used, pool.memory().held);
    let (_, back) = model.kept__vjp(x.clone(), &mut Cx::train(0), Want::ALL);
    let kept = pool.memory().used - used;
    // The input of the first block is `x`, that of the square is the last block's output.
    assert_eq!(kept, LAYERS * INPUT);
    let mut grads = DeepGrads::default();
    back.pull(ct(), &mut grads);
    let peak = pool.memory().held - held;
    drop(grads);
    assert_eq!(pool.memory().used, used);

    let (_, back) = model.plain__vjp(x, &mut Cx::train(0), Want::ALL);
    let residuals = pool.memory().used - used;
    assert!(residuals > 4 * kept, "{residuals} bytes of residuals, {kept} with checkpoints");
    let mut grads = DeepGrads::default();
    back.pull(ct(), &mut grads);
    let without = pool.memory().held - held;
    assert!(2 * peak < without, "a peak of {peak} bytes with checkpoints, {without} without");
}
