//! `COTANGENT_NAN=1` makes the first NaN an error. Alone in its binary: a process reads the variable once, so that the test
//! runs this binary again with the variable set.

use cotangent::attempt;
use cotangent::prelude::*;
use std::process::Command;

#[model]
struct Root {
    #[init(ones)]
    w: Param![3],
}

#[model]
impl Root {
    fn forward(&self, x: Tensor![B, 3]) -> Tensor![B, 3] {
        (x * self.w).sqrt()
    }
}

#[model]
struct Net {
    roots: [Root; 2],
}

#[model]
impl Net {
    #[no_fuse]
    fn loss(&self, x: Tensor![B, 3]) -> Tensor![] {
        (self.roots[0].forward(x.clone()) + self.roots[1].forward(x)).sum(..)
    }
}

#[test]
fn the_first_nan_is_an_error_with_layer_and_operation() {
    if std::env::var_os("COTANGENT_NAN").is_none() {
        let this = std::env::current_exe().expect("the test's binary");
        let output = Command::new(this).env("COTANGENT_NAN", "1").output().expect("run");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
        return;
    }
    let device = Device::cpu();
    let mut model = Net::init(&mut Rng::seed(0), &device);
    let x = || Tensor::ones([2, 3], &device);
    assert!(attempt(|| model.loss_grad(x())).is_ok(), "no error without a NaN");

    model.roots[1].w.set(Tensor::full([3], -1.0, &device));
    let error = attempt(|| model.loss(x())).expect_err("the root of a negative number");
    let said = error.to_string();
    assert!(matches!(&error, Error::Argument { op, .. } if op.contains("sqrt")), "{said}");
    assert!(
        said.contains("sqrt` makes the first NaN in layer `roots.1` at ") && said.contains("nan_error.rs"),
        "{said}"
    );

    // The root of 0 is 0, its slope is infinite, and infinity times 0 is no number.
    model.roots[1].w.set(Tensor::zeros([3], &device));
    let error = attempt(|| model.loss_grad(x() * 0.0).0).expect_err("0 times infinity");
    assert!(error.to_string().ends_with("in layer `roots.1` in the backward pass"), "{error}");
}
