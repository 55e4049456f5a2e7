//! Kernels in index notation.

use cotangent::prelude::*;

/// Root-mean-square normalisation over the last axis.
#[kernel]
fn rms_norm(x: Tensor![R.., C], w: Tensor![C], eps: f32) -> Tensor![R.., C] {
    |r, i| {
        let ms = mean(|j| x[r][j] * x[r][j]);
        x[r][i] * rsqrt(ms + eps) * w[i]
    }
}

/// Gradient descent with momentum.
#[kernel]
fn descend(w: &mut Tensor![N..], m: &mut Tensor![N..], g: Tensor![N..], lr: f32, beta: f32) {
    |i| {
        m[i] = beta * m[i] + g[i];
        w[i] = w[i] - lr * m[i];
    }
}

#[model(dims(C))]
struct Normed {
    fc: Linear![C => C],
    #[init(ones)]
    w: Param![C],
}

#[model]
impl Normed {
    fn loss(&self, x: Tensor![B, T, C]) -> Tensor![] {
        rms_norm(self.fc.forward(x), self.w, 1e-5).square().mean(..)
    }
}

#[test]
fn norms() {
    let device = Device::cpu();
    let x = Tensor::randn([2, 3, 70], &mut Rng::seed(3), &device);
    let w = Tensor::randn([70], &mut Rng::seed(4), &device);
    let y = rms_norm(x.clone(), w.clone(), 1e-5);
    let ms = x.clone().square().mean_keepdim(-1);
    let expected = x.clone() * (ms + 1e-5).rsqrt() * w;
    for (a, b) in y.to_vec().iter().zip(expected.to_vec()) {
        assert!((a - b).abs() < 1e-5, "{a} {b}");
    }
    let model = Normed::init(NormedConfig::new(70), &mut Rng::seed(1), &device);
    let (loss, grads) = model.loss_grad(x);
    assert!(loss.item() > 0.0 && grads.w.is_some() && grads.fc.weight.is_some());
}

#[test]
fn updates_in_place() {
    let device = Device::cpu();
    let (mut w, mut m) = (Tensor::ones([4, 3], &device), Tensor::zeros([4, 3], &device));
    let g = Tensor::full([4, 3], 2.0f32, &device);
    descend(&mut w, &mut m, g.clone(), 0.1, 0.9);
    descend(&mut w, &mut m, g, 0.1, 0.9);
    assert!(w.to_vec().iter().all(|v| (v - (1.0 - 0.2 - 0.38)).abs() < 1e-6), "{w}");
}
