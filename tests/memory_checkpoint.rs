//! What checkpoints keep, and the peak of a step with them. Alone in its binary, since the bytes are the process's.

use cotangent::diff::{Pullback, Want};
use cotangent::prelude::*;

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
    let (device, mut rng) = (Device::cpu(), Rng::seed(0));
    let model = Deep::init(&mut rng, &device);
    let x = Tensor::randn([ROWS, 64], &mut rng, &device);
    let ct = || Some(Tensor::ones([0; 0], &device));

    let used = device.memory().used;
    device.reset_peak_memory();
    let (_, back) = model.kept__vjp(x.clone(), &mut Cx::train(0), Want::ALL);
    let kept = device.memory().used - used;
    // The input of the first block is `x`, that of the square is the last block's output.
    assert_eq!(kept, LAYERS * INPUT);
    let mut grads = DeepGrads::default();
    back.pull(ct(), &mut grads);
    let peak = device.memory().peak - used;
    drop(grads);
    assert_eq!(device.memory().used, used);

    let (_, back) = model.plain__vjp(x, &mut Cx::train(0), Want::ALL);
    let residuals = device.memory().used - used;
    assert!(residuals > 4 * kept, "{residuals} bytes of residuals, {kept} with checkpoints");
    let mut grads = DeepGrads::default();
    back.pull(ct(), &mut grads);
    let without = device.memory().peak - used;
    assert!(2 * peak < without, "a peak of {peak} bytes with checkpoints, {without} without");
}
