//! A kernel keeps for its gradient what the wanted cotangents need. Alone in its binary, since the bytes are the
//! process's.

use cotangent::diff::{Pullback, Want};
use cotangent::prelude::*;

#[kernel]
fn dense(x: Tensor![M, K], w: Tensor![K, N], scale: f32) -> Tensor![M, N] {
    |i, j| scale * sum(|k| x[i][k] * w[k][j])
}

#[test]
fn factors_of_unwanted_cotangents_are_not_kept() {
    let (device, mut rng) = (Device::cpu(), Rng::seed(0));
    let mut random = |shape: &[usize]| Tensor::randn(shape, &mut rng, &device);
    let (w, ct) = (random(&[4, 5]), random(&[4096, 5]));
    let large = 4096 * 4 * 4;
    let mut kept = |want| {
        let x = random(&[4096, 4]);
        let before = device.memory().used;
        let (y, pull) = dense::vjp(x, w.clone(), 2.0, want);
        drop(y);
        let after = device.memory().used;
        let (dx, dw, ()) = pull.pull(Some(ct.clone()), &mut ());
        (after + large > before, dx.map(|x| x.to_vec()), dw.map(|x| x.to_vec()))
    };
    let (all, dx, dw) = kept(Want::ALL);
    let (some, only_dx, none) = kept(Want::of(&[false, true, false]));
    assert!(all && !some, "the left factor serves the cotangent of the right one alone");
    assert!(none.is_none() && only_dx.is_some_and(|x| x.len() == dx.as_ref().map_or(0, Vec::len)));
    let (_, none, only_dw) = kept(Want::of(&[false, false, true]));
    assert!(none.is_none() && only_dw.map(|x| x.len()) == dw.map(|x| x.len()));
}
