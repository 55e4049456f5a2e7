//! In a steady state, a training step asks the system for no tensor memory. Alone in its binary, since the count is the
//! process's.

use cotangent::prelude::*;
use cotangent_cpu::CpuBackend;

#[model]
struct Mlp {
    fc1: Linear![64 => 128],
    drop: Dropout![p = 0.1],
    norm: LayerNorm![128],
    fc2: Linear![128 => 10],
}

#[model]
impl Mlp {
    fn loss(&self, x: Tensor![B, 64], y: Tensor![Int; B], cx: &mut Cx) -> Tensor![] {
        let h = self.norm.forward(self.fc1.forward(x).gelu());
        self.fc2.forward(self.drop.forward(h, cx)).cross_entropy(y)
    }
}

#[test]
fn a_steady_state_allocates_no_tensor_memory() {
    let (device, mut rng, mut cx) = (Device::cpu(), Rng::seed(0), Cx::train(0));
    let (mut model, mut opt) = (Mlp::init(&mut rng, &device), AdamW::new(1e-3));
    let mut counts = vec![];
    for _ in 0..12 {
        let x = Tensor::randn([32, 64], &mut rng, &device);
        let y = Tensor::<Int>::from_slice(&[3; 32], [32], &device);
        let (loss, grads) = model.loss_grad(x, y, &mut cx);
        opt.step(&mut model, grads);
        assert!(loss.item().is_finite());
        counts.push(CpuBackend::shared().allocations());
    }
    assert!(counts[0] > 0);
    assert_eq!(counts[3], counts[11], "allocations after each step: {counts:?}");
}
