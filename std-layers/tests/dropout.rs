//! `Dropout`.

mod support;

use cotangent::diff::{Pullback, Want};
use cotangent::prelude::*;
use support::{check, check_method, check_refused, device, layer, layouts};

fn dropout(p: f64) -> Dropout {
    layer(&DropoutConfig { p })
}

const SHAPES: [&[usize]; 7] = [&[], &[1], &[0], &[3, 4], &[2, 1, 3], &[2, 0], &[33, 17]];

#[test]
fn inference_is_the_identity() {
    for shape in SHAPES {
        check(&dropout(0.5), shape, shape);
        for x in layouts(shape) {
            assert_eq!(dropout(0.9).forward(x.clone(), &mut Cx::eval()).to_vec(), x.to_vec());
        }
    }
}

#[test]
fn gradients_in_training() {
    for (shape, p) in SHAPES.into_iter().flat_map(|shape| [(shape, 0.0), (shape, 0.4), (shape, 1.0)]) {
        for x in layouts(shape) {
            check_method(
                &dropout(p),
                &[x],
                shape,
                |drop, xs| drop.forward(xs[0].clone(), &mut Cx::train(3)),
                |drop, xs, ct, grads| {
                    let (_, back) = drop.forward__vjp(xs[0].clone(), &mut Cx::train(3), Want::ALL);
                    vec![back.pull(Some(ct), grads).0]
                },
            );
        }
    }
}

#[test]
fn elements_are_kept_at_the_rate_and_scaled() {
    let n = 100_000;
    for p in [0.1, 0.5, 0.8] {
        let y = dropout(p).forward(Tensor::ones([n], &device()), &mut Cx::train(1)).to_vec();
        let scale = (1.0 / (1.0 - p)) as f32;
        assert!(y.iter().all(|&v| v == 0.0 || v == scale), "an element is dropped or scaled");
        let dropped = y.iter().filter(|v| **v == 0.0).count() as f64 / n as f64;
        // Five standard deviations of a share of n draws.
        let deviation = 5.0 * (p * (1.0 - p) / n as f64).sqrt();
        assert!((dropped - p).abs() < deviation, "{dropped} of the elements are dropped, expected {p}");
    }
    let x = Tensor::ones([100], &device());
    assert_eq!(dropout(1.0).forward(x.clone(), &mut Cx::train(1)).to_vec(), [0.0; 100]);
    assert_eq!(dropout(0.0).forward(x, &mut Cx::train(1)).to_vec(), [1.0; 100]);
    assert_eq!(Dropout::init(&mut Rng::seed(0), &device()).p, 0.5, "PyTorch's rate");
}

#[test]
fn a_seed_and_a_step_give_one_mask() {
    let (drop, x) = (dropout(0.5), Tensor::ones([64], &device()));
    let (mut a, mut b) = (Cx::train(8), Cx::train(8));
    let draw = |cx: &mut Cx| drop.forward(x.clone(), cx).to_vec();
    let (first, second) = (draw(&mut a), draw(&mut a));
    assert_ne!(first, second, "each step draws anew");
    assert_eq!((draw(&mut b), draw(&mut b)), (first.clone(), second));
    assert_ne!(draw(&mut Cx::train(9)), first, "another seed");
    // The mask does not depend on the layout.
    let wide = Tensor::ones([8, 8], &device()).transpose(0, 1);
    assert_eq!(drop.forward(wide, &mut Cx::train(8)).to_vec(), first);
}

#[test]
fn rates_outside_of_0_to_1_are_refused() {
    for p in [-0.1, 1.5, f64::NAN] {
        let x = Tensor::ones([2], &device());
        check_refused(dropout(p).try_forward(x, &mut Cx::train(0)), &["dropout", &p.to_string(), "0 <= p <= 1"]);
    }
}
