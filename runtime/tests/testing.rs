//! The checks for tests find faults and name them.

use cotangent_runtime::diff::{Pullback, Want};
use cotangent_runtime::testing::{GradCheck, assert_close, assert_equal, check_grad, check_loss_grad};
use cotangent_runtime::{DType, Device, Int, Tensor};

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

/// The finer the dtype of the inputs, the smaller the fault that is found.
#[test]
fn the_tolerance_follows_the_dtype() {
    let check = |dtype, factor: f64| {
        let x = tensor(&[0.5, -1.0, 2.0]).to(dtype);
        check_grad(|xs| xs[0].clone().square(), |xs, ct| vec![Some(ct * &xs[0] * factor)], &[x], GradCheck::default());
    };
    let least = [(DType::F64, 1e-6), (DType::F32, 1e-3), (DType::F16, 2e-2), (DType::BF16, 0.15)];
    for (dtype, fault) in least {
        check(dtype, 2.0);
        let message = panic_of(move || check(dtype, 2.0 + fault));
        assert!(message.contains("central differences give"), "{dtype}: {message}");
    }
    let other = panic_of(|| {
        let x = tensor(&[1.0]).bfloat16();
        check_grad(|xs| xs[0].clone(), |_, ct| vec![Some(ct.float())], &[x], GradCheck::default());
    });
    assert!(other.contains("the cotangent of input 0 must have the input's dtype"), "{other}");
}

#[test]
fn equality_sees_every_digit() {
    let x = Tensor::from_slice_of(&[1.0, 0.1f64], [2], &Device::cpu());
    assert_equal(&x, &x.clone());
    let near = x.clone() + 1e-15;
    let message = panic_of(move || assert_equal(&x, &near));
    assert!(message.contains("element [0] of shape [2] differs"), "{message}");
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
    assert!(message.starts_with("2 of 4 elements of shape [4] differ, the first at [1]: 2.09999"), "{message}");
    assert!(message.contains(", the worst at [2]: 3.5 against 3 (difference 5.00e-1, accepted 3.0e-3)"), "{message}");
    let ints = |values: &[i64]| Tensor::<Int>::from_slice(values, [2, 1], &Device::cpu());
    assert_close(&ints(&[100, -3]), &ints(&[101, -3]), 0.01, 0.0);
    let message = panic_of(|| assert_close(&ints(&[1, i64::MAX]), &ints(&[1, i64::MAX - 1]), 0.0, 0.0));
    assert!(message.contains("the worst at [1, 0]: 9223372036854775807 against"), "{message}");
    let nan = panic_of(|| assert_close(&tensor(&[f32::NAN]), &tensor(&[0.0]), 1.0, 1.0));
    assert!(nan.contains("NaN against 0"), "{nan}");
}
