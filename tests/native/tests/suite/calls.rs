//! Calls of kernels of another crate, and the kernels as data, linked.

use cotangent::__private::native::call::Callable;
use cotangent::prelude::*;
use cotangent::testing::{GradCheck, check_loss_grad};
use cotangent_ir::{Kernel, Value, eval, link, verify};
use cotangent_native_tests::scalars::{self, swish as gated};

/// Calls through two crates.
#[kernel]
fn mix(x: f32, y: f32) -> f32 {
    scalars::swiglu(x, gated(y)) + x * scalars::swish(2.0 * y)
}

/// The same without calls.
#[kernel]
fn written_out(x: f32, y: f32) -> f32 {
    let z = 2.0 * y;
    x * sigmoid(x) * (y * sigmoid(y)) + x * (z * sigmoid(z))
}

#[model]
struct Mix {
    #[init(ones)]
    w: Param![4],
}

#[model]
impl Mix {
    fn loss(&self, x: Tensor![B, 4], y: Tensor![B, 4]) -> Tensor![] {
        (x * self.w).zip_map(y, mix).square().sum(..)
    }
}

#[test]
fn values_and_gradients() {
    let input = |seed| Tensor::randn([3, 4], &mut Rng::seed(seed), &Device::cpu());
    let (found, expected) = (input(1).zip_map(input(2), mix), input(1).zip_map(input(2), written_out));
    for (f, e) in found.to_vec().iter().zip(expected.to_vec()) {
        assert!((f - e).abs() <= 1e-6 * (1.0 + e.abs()), "{f} is not {e}");
    }
    let model = Mix::init(&mut Rng::seed(1), &Device::cpu());
    check_loss_grad(
        |x| {
            let (loss, _, (cx, cy)) = model.loss_grad_inputs(x[0].clone(), x[1].clone());
            (loss, vec![cx, cy])
        },
        &[input(1), input(2)],
        GradCheck::default(),
    );
}

#[test]
fn data_link() {
    let called = |kernel: &Kernel| {
        assert!(verify(kernel).is_empty() && !kernel.callees.is_empty(), "{kernel}");
        link(kernel).expect("callees are sound")
    };
    let pairs = [0, 1, 2].map(|at| match at {
        0 => (called(<mix as Callable<2, 1>>::IR), <written_out as Callable<2, 1>>::IR),
        at => (called(<mix as Callable<2, 1>>::SLOPES[0][at - 1]), <written_out as Callable<2, 1>>::SLOPES[0][at - 1]),
    });
    let number = |x: f64| Value::float(&[], vec![x]);
    for (found, expected) in &pairs {
        assert!(found.callees.is_empty());
        for (x, y) in [(0.3, -1.2), (2.0, 0.7), (-0.4, 0.0)] {
            let run = |kernel| eval(kernel, &[number(x), number(y)]).expect("sound")[0].floats()[0];
            assert!((run(found) - run(expected)).abs() < 1e-12, "{found}");
        }
    }
}
