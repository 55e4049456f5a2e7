//! Kernels whose derivative the user wrote.

use cotangent::prelude::*;
use cotangent::testing::{GradCheck, check_loss_grad};

mod derivatives {
    use cotangent::prelude::*;

    pub(super) fn softmax(y: Tensor, ct: Tensor) -> Tensor {
        let sum = (&y * &ct).sum_keepdim(-1);
        y * (ct - sum)
    }

    /// A kernel may be a derivative.
    #[kernel]
    pub(super) fn scale(x: Tensor![N], w: Tensor![], k: f32, ct: Tensor![N]) -> (Tensor![N], Tensor![]) {
        (|i| ct[i] * w * k, || sum(|i| ct[i] * x[i] * k))
    }

    /// Two outputs, of which either may have no cotangent.
    pub(super) fn halves(a: Tensor, b: Tensor) -> Tensor {
        cat([a, b * 3.0], 0)
    }

    pub(super) fn wrong(x: Tensor, _y: Tensor, _ct: Tensor) -> Tensor {
        x.sum(..)
    }
}

/// Saves its result alone.
#[kernel(vjp = derivatives::softmax(y, ct))]
fn softmax(x: Tensor![R.., C]) -> Tensor![R.., C] {
    |r, i| {
        let top = max(|j| x[r][j]);
        exp(x[r][i] - top) / sum(|j| exp(x[r][j] - top))
    }
}

#[kernel(vjp = derivatives::scale(x, w, k, ct_y))]
fn scale(x: Tensor![N], w: Tensor![], k: f32) -> Tensor![N] {
    |i| x[i] * w * k
}

#[kernel(vjp = derivatives::halves(ct_y0, ct_y1))]
fn halves(x: Tensor![2 * N]) -> (Tensor![N], Tensor![N]) {
    (|i| x[i], |i| 3.0 * x[i + N])
}

#[kernel(vjp = derivatives::wrong)]
fn wrong(x: Tensor![N]) -> Tensor![N] {
    |i| x[i]
}

#[model]
struct Uses {
    #[init(ones)]
    w: Param![],
}

#[model]
impl Uses {
    fn loss(&self, x: Tensor![B, 6], v: Tensor![6]) -> Tensor![] {
        let y = softmax(x * v);
        let s = scale(y.sum(0), self.w, 0.5);
        let (a, b) = halves(s);
        (a * b).square().sum(..)
    }
    fn one(&self, x: Tensor![6]) -> Tensor![] {
        let (_, b) = halves(x * self.w);
        b.square().sum(..)
    }
    fn bad(&self, x: Tensor![N]) -> Tensor![] {
        wrong(x * self.w).sum(..)
    }
}

fn input(shape: &[usize], seed: u64) -> Tensor {
    Tensor::randn(shape, &mut Rng::seed(seed), &Device::cpu())
}

fn model() -> Uses {
    Uses::init(&mut Rng::seed(1), &Device::cpu())
}

#[test]
fn gradients() {
    let model = model();
    check_loss_grad(
        |x| {
            let (loss, _, (cx, cv)) = model.loss_grad_inputs(x[0].clone(), x[1].clone());
            (loss, vec![cx, cv])
        },
        &[input(&[3, 6], 5), input(&[6], 6)],
        GradCheck::default(),
    );
    let (_, grads, ct) = model.one_grad_inputs(input(&[6], 2));
    let expected: Vec<f32> = (0..6).map(|i| if i < 3 { 0.0 } else { 18.0 * input(&[6], 2).to_vec()[i] }).collect();
    for (f, e) in ct.expect("wanted").to_vec().iter().zip(expected) {
        assert!((f - e).abs() < 1e-4, "{f} is not {e}");
    }
    assert!(grads.w.is_some());
}

#[test]
fn wrong_shape() {
    let error = cotangent::__private::attempt(|| model().bad_grad(input(&[4], 1)).0).expect_err("a scalar for `x`");
    assert_eq!(error.to_string(), "wrong: the derivative gives a cotangent of shape [] for `x`, which is [4]");
}
