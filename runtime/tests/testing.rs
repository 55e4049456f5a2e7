//! The checks for tests find faults and name them.

use cotangent_runtime::diff::{Pullback, Want};
use cotangent_runtime::testing::{GradCheck, assert_close, check_grad, check_loss_grad};
use cotangent_runtime::{Device, Tensor};

fn tensor(values: &[f32]) -> Tensor {
    Tensor::from_slice(values, [values.len()], &Device::cpu())
}

/// What `f` panics with.
fn panic_of(f: impl FnOnce()) -> String {
    let Err(payload) = std::panic::catch_unwind(std::panic::AssertUnwindSafe(f)) else {
        panic!("a panic was expected")
    };
    payload.downcast_ref::<String>().cloned().unwrap_or_default()
}

#[test]
fn a_wrong_cotangent_is_named() {
    let check = |factor: f64| {
        check_grad(
            |xs| xs[0].clone().square(),
            |xs, ct| vec![Some(ct * &xs[0] * factor)],
            &[tensor(&[0.5, -1.0, 2.0])],
            GradCheck::default(),
        );
    };
    check(2.0);
    let message = panic_of(move || check(2.02));
    assert!(message.starts_with("input 0 of shape [3], element ["), "{message}");
    let missing = panic_of(|| {
        check_grad(|xs| xs[0].clone().exp(), |_, _| vec![None], &[tensor(&[1.0])], GradCheck::default());
    });
    assert!(missing.contains("the cotangent is 0"), "{missing}");
}

#[test]
fn a_loss_with_gradients_is_checked_through_a_closure() {
    check_loss_grad(
        |xs| {
            let (y, product) = xs[0].clone().mul__vjp(xs[1].clone(), Want::ALL);
            let (loss, mean) = y.mean__vjp(.., Want::ALL);
            let (ct, ()) = mean.pull(Some(loss.ones_like()), &mut ());
            let (a, b) = product.pull(ct, &mut ());
            (loss, vec![a, b])
        },
        &[tensor(&[0.5, -1.0]), tensor(&[2.0, 0.25])],
        GradCheck::default(),
    );
}

#[test]
fn the_worst_element_is_named() {
    let (a, b) = (tensor(&[1.0, 2.1, 3.5, f32::NAN]), tensor(&[1.0, 2.0, 3.0, f32::NAN]));
    assert_close(&a, &a.clone(), 0.0, 0.0);
    let message = panic_of(move || assert_close(&a, &b, 1e-3, 0.0));
    assert!(message.starts_with("2 of 4 elements of shape [4] differ, the worst at [2]: 3.5 against 3"), "{message}");
    let nan = panic_of(|| assert_close(&tensor(&[f32::NAN]), &tensor(&[0.0]), 1.0, 1.0));
    assert!(nan.contains("NaN against 0"), "{nan}");
}
