//! Kernels that call kernels, and kernels as plain functions.

use cotangent::__private::kernel::ZipMap;
use cotangent::diff::{Pullback, Want};
use cotangent::prelude::*;
use cotangent::testing::{GradCheck, check_loss_grad};

mod ops {
    use cotangent::prelude::*;

    /// `x sigmoid(x)`.
    #[kernel]
    pub(super) fn swish(x: f32) -> f32 {
        x * sigmoid(x)
    }

    /// Both of its derivatives vary with both arguments.
    #[kernel]
    pub(super) fn blend(a: f32, b: f32) -> f32 {
        sin(a) * b + a * b * b
    }

    pub(super) mod deep {
        use cotangent::prelude::*;

        /// Calls by `super`.
        #[kernel]
        pub(crate) fn twice(x: f32) -> f32 {
            crate::calls::ops::swish(super::swish(x))
        }
    }
}

use ops::blend;

/// Calls by name and by path; one result is used twice.
#[kernel]
fn gate(x: f32, y: f32) -> f32 {
    let g = blend(x, ops::swish(y));
    g * g + 0.5 * ops::deep::twice(x - y) + ops::swish(0.3)
}

/// Calls within a row and a reduction.
#[kernel]
fn norm(x: Tensor![R.., C], w: Tensor![C], eps: f32) -> Tensor![R.., C] {
    |r, i| {
        let total = sum(|j| ops::swish(x[r][j]) * ops::swish(x[r][j]));
        blend(x[r][i] * rsqrt(total + eps), w[i])
    }
}

/// Calls in nested loops.
#[kernel]
fn stencil(x: Tensor![N], w: Tensor![K]) -> Tensor![N - K + 1] {
    |i| sum(|k| blend(x[i + k], w[k]))
}

/// Integers and truth values are no operands of a call, but may choose one.
#[kernel]
fn choose(x: f32, n: i64, c: bool) -> (f32, i64) {
    (if c { ops::swish(x) } else { ops::swish(n) }, n + 1)
}

fn input(shape: &[usize], seed: u64) -> Tensor {
    Tensor::randn(shape, &mut Rng::seed(seed), &Device::cpu())
}

fn swish(x: f32) -> f32 {
    x / (1.0 + (-x).exp())
}

#[track_caller]
fn near(found: &[f32], expected: impl IntoIterator<Item = f32>) {
    let expected: Vec<f32> = expected.into_iter().collect();
    assert_eq!(found.len(), expected.len());
    for (f, e) in found.iter().zip(expected) {
        assert!((f - e).abs() <= 1e-5 * (1.0 + e.abs()), "{f} is not {e}");
    }
}

#[test]
fn values() {
    let (x, y) = (input(&[3, 40], 1), input(&[3, 40], 2));
    let mix = |a: f32, b: f32| a.sin() * b + a * b * b;
    let expected = x.to_vec().into_iter().zip(y.to_vec()).map(|(x, y)| {
        let g = mix(x, swish(y));
        g * g + 0.5 * swish(swish(x - y)) + swish(0.3)
    });
    near(&x.zip_map(y, gate).to_vec(), expected.collect::<Vec<_>>());
    let (x, w) = (input(&[9], 3), input(&[3], 4));
    let (a, b) = (x.to_vec(), w.to_vec());
    let expected = (0..7).map(|i| (0..3).map(|k| mix(a[i + k], b[k])).sum());
    near(&stencil(x, w).to_vec(), expected.collect::<Vec<f32>>());
}

#[test]
fn wide_floats() {
    let x = input(&[50], 1).to(DType::F64);
    let found = x.clone().map(ops::deep::twice).to_vec();
    near(&found, x.to_vec().into_iter().map(|x| swish(swish(x))));
}

#[model(dims(C))]
struct Calls {
    #[init(ones)]
    w: Param![C],
}

#[model]
impl Calls {
    fn pair(&self, x: Tensor![B, C], y: Tensor![B, C]) -> Tensor![] {
        norm(x.zip_map(y, gate), self.w, 1e-3).map(ops::deep::twice).square().sum(..)
    }
    fn windows(&self, x: Tensor![N], w: Tensor![K]) -> Tensor![] {
        (stencil(x, w).square().sum(..) + self.w.sum(..)).sum(..)
    }
}

#[test]
fn gradients() {
    let model = Calls::init(CallsConfig::new(5), &mut Rng::seed(1), &Device::cpu());
    check_loss_grad(
        |x| {
            let (loss, _, (cx, cy)) = model.pair_grad_inputs(x[0].clone(), x[1].clone());
            (loss, vec![cx, cy])
        },
        &[input(&[3, 5], 5), input(&[3, 5], 6)],
        GradCheck::default(),
    );
    check_loss_grad(
        |x| {
            let (loss, _, (cx, cw)) = model.windows_grad_inputs(x[0].clone(), x[1].clone());
            (loss, vec![cx, cw])
        },
        &[input(&[11], 5), input(&[4], 6)],
        GradCheck::default(),
    );
}

#[test]
fn plain_functions() {
    near(&[ops::swish(0.5), blend(1.0, 2.0)], [swish(0.5), 1.0f32.sin() * 2.0 + 4.0]);
    let (y, n) = choose(0.5, 3, false);
    near(&[y], [swish(3.0)]);
    assert_eq!(n, 4);
    let half = [ops::deep::twice(0.5), ops::deep::twice(1.0)];
    near(&half, [swish(swish(0.5)), swish(swish(1.0))]);
}

#[test]
fn inside_of_a_function() {
    #[kernel]
    fn square(x: f32) -> f32 {
        x * x
    }
    #[kernel]
    fn fourth(x: f32) -> f32 {
        square(square(x))
    }
    near(&input(&[4], 1).map(fourth).to_vec(), input(&[4], 1).to_vec().into_iter().map(|x| x.powi(4)));
}

/// Two results.
#[kernel]
fn rotate(x: f32, y: f32) -> (f32, f32) {
    (x * cos(y) - y, x * sin(y) + x)
}

/// Takes them apart, and calls through another kernel.
#[kernel]
fn swirl(x: f32, y: f32) -> f32 {
    let (a, b) = rotate(x, y);
    let (c, _) = self::rotate(ops::swish(b), a);
    a * b + c
}

#[test]
fn several_results() {
    let turn = |x: f32, y: f32| (x * y.cos() - y, x * y.sin() + x);
    let (x, y) = (input(&[3, 5], 1), input(&[3, 5], 2));
    let expected = x.to_vec().into_iter().zip(y.to_vec()).map(|(x, y)| {
        let (a, b) = turn(x, y);
        a * b + turn(swish(b), a).0
    });
    let expected: Vec<f32> = expected.collect();
    near(&x.clone().zip_map(y.clone(), swirl).to_vec(), expected.iter().copied());
    near(&x.clone().to(DType::F64).zip_map(y.clone().to(DType::F64), swirl).to_vec(), expected);
    check_zip(swirl, &[x, y]);
}

/// The gradient of a kernel of two floats.
#[track_caller]
fn check_zip<F: ZipMap>(f: F, at: &[Tensor; 2]) {
    check_loss_grad(
        |x| {
            let (y, pull) = x[0].clone().zip_map__vjp(x[1].clone(), f, Want::ALL);
            let (loss, ct) = (y.clone().square().sum(..), 2.0 * y);
            let (cx, cy, ()) = pull.pull(Some(ct), &mut ());
            (loss, vec![cx, cy])
        },
        at,
        GradCheck::default(),
    );
}

mod by_hand {
    use super::{check_zip, input, near};
    use cotangent::diff::{Pullback, Want};
    use cotangent::prelude::*;

    /// Not the slope of `cube`, so that it is seen to be used.
    #[kernel]
    fn cube_slope(x: f32, ct: f32) -> f32 {
        100.0 * ct * x
    }

    #[kernel(vjp = cube_slope(x, ct))]
    fn cube(x: f32) -> f32 {
        x * x * x
    }

    #[kernel]
    fn product_slopes(y: f32, ct: f32, b: f32, a: f32) -> (f32, f32) {
        (ct * b, if a == 0.0 { 0.0 } else { ct * y / b })
    }

    #[kernel(vjp = product_slopes(y, ct, b, a))]
    fn product(a: f32, b: f32) -> f32 {
        a * b
    }

    #[kernel]
    fn of_both(a: f32, b: f32) -> f32 {
        product(sin(a), b + 2.0) * a
    }

    #[kernel]
    fn steps(ct_y1: f32, n: i64, c: bool) -> f32 {
        if c { n * ct_y1 } else { 0.0 }
    }

    /// Not all of it is of floats.
    #[kernel(vjp = steps(ct_y1, n, c))]
    fn scaled(x: f32, n: i64, c: bool) -> (i64, f32) {
        (n, if c { n * x } else { 1.0 })
    }

    #[kernel]
    fn outer(x: f32) -> f32 {
        2.0 * cube(x)
    }

    #[test]
    fn its_gradient_is_the_one_that_was_written() {
        let x = input(&[7], 1);
        for (times, pulled) in [
            (1.0, x.clone().map__vjp(cube, Want::ALL).1.pull(Some(input(&[7], 2)), &mut ()).0),
            (2.0, x.clone().map__vjp(outer, Want::ALL).1.pull(Some(input(&[7], 2)), &mut ()).0),
        ] {
            let expected = x.to_vec().into_iter().zip(input(&[7], 2).to_vec()).map(|(x, ct)| times * 100.0 * x * ct);
            near(&pulled.expect("wanted").to_vec(), expected);
        }
        let at = [input(&[3, 5], 3), input(&[3, 5], 4) + 3.0];
        check_zip(product, &at);
        check_zip(of_both, &at);
        assert_eq!(scaled(2.0, 3, true), (3, 6.0));
    }
}
