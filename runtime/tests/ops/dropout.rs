use crate::reference::{cpu, layouts, pulled, random, tolerance};
use cotangent_runtime::diff::Want;
use cotangent_runtime::{Cx, Error, Tensor, attempt};

#[test]
fn inference_and_zero_change_nothing() {
    let x = random(&[3, 4], -1.0, 1.0, 1);
    assert_eq!(x.clone().dropout(0.5, &mut Cx::eval()).to_vec(), x.to_vec());
    assert_eq!(x.clone().dropout(0, &mut Cx::train(1)).to_vec(), x.to_vec());
    let (_, p) = x.clone().dropout__vjp(0.5, &mut Cx::eval(), Want::ALL);
    assert_eq!(pulled(p, Some(x.clone())).0.map(|d| d.to_vec()), Some(x.to_vec()));
}

#[test]
fn what_stays_is_scaled_and_the_pullback_takes_the_same_elements() {
    for x in layouts(&[300, 401], 1.0, 2.0, 1) {
        let (y, p) = x.clone().dropout__vjp(0.25, &mut Cx::train(5), Want::ALL);
        let (dx, (), ()) = pulled(p, Some(x.ones_like()));
        let dx = dx.map(|d| d.to_vec()).unwrap_or_default();
        let (mut dropped, error) = (0, 3.0 * tolerance(x.dtype()) as f32 + 1e-6);
        for ((y, x), dx) in y.to_vec().into_iter().zip(x.to_vec()).zip(dx) {
            assert!(y == 0.0 && dx == 0.0 || (y - x / 0.75).abs() < error && (dx - 1.0 / 0.75).abs() < error);
            dropped += usize::from(y == 0.0);
        }
        let share = dropped as f64 / x.numel() as f64;
        assert!((share - 0.25).abs() < 0.01, "{share}");
    }
}

#[test]
fn draws_are_replayed_by_the_seed_and_differ_between_draws() {
    let x = Tensor::ones([1000], &cpu());
    let mut cx = Cx::train(3);
    let (a, b) = (x.clone().dropout(0.5, &mut cx).to_vec(), x.clone().dropout(0.5, &mut cx).to_vec());
    assert_ne!(a, b);
    assert_eq!(x.clone().dropout(0.5f32, &mut Cx::train(3)).to_vec(), a);
    assert_eq!(x.clone().dropout(1, &mut cx).to_vec(), [0.0; 1000]);
    let (y, p) = x.dropout__vjp(0.5, &mut cx, Want::NONE);
    assert!(pulled(p, Some(y)).0.is_none());
}

#[test]
fn a_probability_out_of_range_is_refused() {
    for p in [-0.1, 1.5, f64::NAN] {
        let x = random(&[2], 0.0, 1.0, 1);
        assert!(matches!(attempt(|| x.dropout(p, &mut Cx::eval())), Err(Error::Argument { .. })));
    }
}
