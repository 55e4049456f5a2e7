//! Products of fixed ranks, distances, angles and covariances against plain loops, and their gradients.

use crate::reference::{Array, check_unary, close, cpu, layouts, near, pulled, random, tolerance};
use cotangent_runtime::diff::Want;
use cotangent_runtime::testing::{GradCheck, check_grad};
use cotangent_runtime::{Tensor, attempt};

type Cts = (Option<Tensor>, Option<Tensor>);

/// Checks an operation of two operands over their layouts: `want` from arrays, and the gradient.
#[track_caller]
fn check<P: FnOnce(Tensor) -> Cts>(
    shapes: [&[usize]; 2],
    want: impl Fn(&Array, &Array) -> Array,
    op: impl Fn(Tensor, Tensor) -> Tensor,
    vjp: impl Fn(Tensor, Tensor, Want) -> (Tensor, P),
) {
    let seconds = layouts(shapes[1], 0.5, 1.5, 7);
    for (n, a) in layouts(shapes[0], -1.0, 1.0, 3).into_iter().enumerate() {
        let b = seconds[n % seconds.len()].clone();
        let coarse = tolerance(a.dtype()).max(tolerance(b.dtype()));
        let want = want(&Array::of(&a), &Array::of(&b));
        near(&op(a.clone(), b.clone()), &want, 4.0 * coarse);
        let (y, p) = vjp(a.clone(), b.clone(), Want::SELF);
        assert!(p(y.ones_like()).1.is_none(), "an unwanted cotangent is none");
        check_grad(
            |xs| op(xs[0].clone(), xs[1].clone()),
            |xs, ct| {
                let (da, db) = vjp(xs[0].clone(), xs[1].clone(), Want::ALL).1(ct);
                vec![da, db]
            },
            &[a, b],
            GradCheck { most: 8, ..GradCheck::default() },
        );
    }
}

macro_rules! vjp {
    ($name:ident) => {
        |a, b, w| {
            let (y, p) = a.$name(b, w);
            (y, move |ct| pulled(p, Some(ct)))
        }
    };
}

#[test]
fn products_with_ranks() {
    let sum = |n: usize, f: &dyn Fn(usize) -> f64| (0..n).map(f).sum::<f64>();
    check(
        [&[4], &[4]],
        |a, b| Array::from_fn(&[], |_| sum(4, &|k| a.data[k] * b.data[k])),
        Tensor::dot,
        vjp!(dot__vjp),
    );
    check(
        [&[3, 4], &[4]],
        |a, b| Array::from_fn(&[3], |i| sum(4, &|k| a.at(&[i[0], k]) * b.data[k])),
        Tensor::mv,
        vjp!(mv__vjp),
    );
    check(
        [&[3, 4], &[4, 2]],
        |a, b| Array::from_fn(&[3, 2], |i| sum(4, &|k| a.at(&[i[0], k]) * b.at(&[k, i[1]]))),
        Tensor::mm,
        vjp!(mm__vjp),
    );
    check(
        [&[2, 3, 4], &[2, 4, 2]],
        |a, b| Array::from_fn(&[2, 3, 2], |i| sum(4, &|k| a.at(&[i[0], i[1], k]) * b.at(&[i[0], k, i[2]]))),
        Tensor::bmm,
        vjp!(bmm__vjp),
    );
    check(
        [&[3], &[4]],
        |a, b| Array::from_fn(&[3, 4], |i| a.data[i[0]] * b.data[i[1]]),
        Tensor::outer,
        vjp!(outer__vjp),
    );
    check(
        [&[2, 3, 4], &[4, 5, 2]],
        |a, b| Array::from_fn(&[3, 5], |i| sum(8, &|k| a.at(&[k / 4, i[0], k % 4]) * b.at(&[k % 4, i[1], k / 4]))),
        |a, b| a.tensordot(b, [0, -1], [2, 0]),
        |a, b, w| {
            let (y, p) = a.tensordot__vjp(b, [0, -1], [2, 0], w);
            (y, move |ct| {
                let (da, db, (), ()) = pulled(p, Some(ct));
                (da, db)
            })
        },
    );
    for error in [
        attempt(|| random(&[2, 3], 0.0, 1.0, 1).dot(random(&[3], 0.0, 1.0, 1))),
        attempt(|| random(&[2], 0.0, 1.0, 1).dot(random(&[3], 0.0, 1.0, 1))),
        attempt(|| random(&[2, 3], 0.0, 1.0, 1).bmm(random(&[3, 2], 0.0, 1.0, 1))),
        attempt(|| random(&[2], 0.0, 1.0, 1).tensordot(random(&[3], 0.0, 1.0, 1), 0, 0)),
        attempt(|| random(&[2], 0.0, 1.0, 1).tensordot(random(&[2], 0.0, 1.0, 1), 0, [0, 0])),
    ] {
        let text = error.unwrap_err().to_string();
        assert!(["dot: ", "bmm: ", "tensordot: ", "matmul: "].iter().any(|op| text.starts_with(op)), "{text}");
    }
}

#[test]
fn products_that_are_added() {
    let (x, a, b) = (random(&[4], 0.0, 1.0, 1), random(&[2, 3], 0.0, 1.0, 2), random(&[3, 4], 0.0, 1.0, 3));
    let product = a.clone().matmul(b.clone());
    assert!(x.clone().addmm(a.clone(), b.clone()).allclose(&x + &product, 1e-6, 1e-6));
    let scaled = x.clone().addmm_with(a.clone(), b.clone(), 0.5, 2);
    assert!(scaled.allclose(0.5 * &x + 2.0 * &product, 1e-6, 1e-6));
    check_grad(
        |xs| xs[0].clone().addmm_with(xs[1].clone(), xs[2].clone(), 0.5, 2),
        |xs, ct| {
            let (_, p) = xs[0].clone().addmm_with__vjp(xs[1].clone(), xs[2].clone(), 0.5, 2, Want::ALL);
            let (dx, da, db, (), ()) = pulled(p, Some(ct));
            vec![dx, da, db]
        },
        &[x.clone(), a.clone(), b.clone()],
        GradCheck::default(),
    );
    let batch = x.clone().baddbmm(a.unsqueeze(0).expand([5, 2, 3]), b.unsqueeze(0).expand([5, 3, 4]));
    assert!(batch.allclose(&x + &product, 1e-6, 1e-6) && batch.shape() == [5, 2, 4]);
}

#[test]
fn distances_and_angles() {
    let square = |n: usize, f: &dyn Fn(usize) -> f64| (0..n).map(|k| f(k) * f(k)).sum::<f64>();
    check(
        [&[2, 3, 4], &[5, 4]],
        |a, b| Array::from_fn(&[2, 3, 5], |i| square(4, &|k| a.at(&[i[0], i[1], k]) - b.at(&[i[2], k])).sqrt()),
        Tensor::cdist,
        vjp!(cdist__vjp),
    );
    let x = random(&[3, 2], 0.0, 1.0, 1);
    let (y, p) = x.clone().cdist__vjp(x.clone(), Want::ALL);
    assert!((0..3).all(|i| y.to_vec()[4 * i] == 0.0));
    assert!(pulled(p, Some(y.ones_like())).0.is_some_and(|d| d.to_vec().iter().all(|v| v.is_finite())));
    check(
        [&[2, 4, 3], &[4, 1]],
        |a, b| {
            Array::from_fn(&[2, 3], |i| {
                let (u, v) = (|k: usize| a.at(&[i[0], k, i[1]]), |k: usize| b.at(&[k, 0]));
                (0..4).map(|k| u(k) * v(k)).sum::<f64>() / (square(4, &u) * square(4, &v)).sqrt()
            })
        },
        |a, b| a.cosine_similarity(b, -2, 1e-8),
        |a, b, w| {
            let (y, p) = a.cosine_similarity__vjp(b, -2, 1e-8, w);
            (y, move |ct| {
                let (da, db, (), ()) = pulled(p, Some(ct));
                (da, db)
            })
        },
    );
    for x in layouts(&[3, 4], 0.5, 1.5, 5) {
        let a = Array::of(&x);
        let want = Array::from_fn(&[3, 4], |i| a.at(i) / square(3, &|k| a.at(&[k, i[1]])).sqrt());
        let p = |p, ct| {
            let (dx, (), ()) = pulled(p, ct);
            dx
        };
        check_unary(&x, &want, |x| x.normalize(0, 1e-12), |x, w| x.normalize__vjp(0, 1e-12, w), p);
    }
    let zero = Tensor::zeros([2], &cpu());
    assert_eq!(zero.normalize(0, 1e-12).to_vec(), [0.0, 0.0]);
}

#[test]
fn vector_products() {
    check(
        [&[2, 3], &[2, 3]],
        |a, b| {
            Array::from_fn(&[2, 3], |i| {
                let (j, k) = ((i[1] + 1) % 3, (i[1] + 2) % 3);
                a.at(&[i[0], j]) * b.at(&[i[0], k]) - a.at(&[i[0], k]) * b.at(&[i[0], j])
            })
        },
        |a, b| a.cross(b, 1),
        |a, b, w| {
            let (y, p) = a.cross__vjp(b, 1, w);
            (y, move |ct| {
                let (da, db, ()) = pulled(p, Some(ct));
                (da, db)
            })
        },
    );
    let error =
        attempt(|| random(&[2, 3], 0.0, 1.0, 1).cross(random(&[2, 3], 0.0, 1.0, 1), 0)).unwrap_err().to_string();
    assert_eq!(error, "cross: axis 0 of [2, 3] is 2, expected 3");
}

#[test]
fn covariances_and_correlations() {
    let x = random(&[3, 6], -1.0, 1.0, 1).double();
    let a = Array::of(&x);
    let mean = |v: usize| (0..6).map(|k| a.at(&[v, k])).sum::<f64>() / 6.0;
    let cov =
        |u: usize, v: usize| (0..6).map(|k| (a.at(&[u, k]) - mean(u)) * (a.at(&[v, k]) - mean(v))).sum::<f64>() / 5.0;
    close(&x.clone().cov(1), &Array::from_fn(&[3, 3], |i| cov(i[0], i[1])));
    let correlation = |i: &[usize]| cov(i[0], i[1]) / (cov(i[0], i[0]) * cov(i[1], i[1])).sqrt();
    close(&x.clone().corrcoef(), &Array::from_fn(&[3, 3], correlation));
    check_grad(
        |xs| xs[0].clone().cov(1),
        |xs, ct| vec![pulled(xs[0].clone().cov__vjp(1, Want::ALL).1, Some(ct)).0],
        std::slice::from_ref(&x),
        GradCheck::default(),
    );
    let off_diagonal = |y: Tensor| y.narrow(0, 0, 1).narrow(1, 1, 2);
    check_grad(
        |xs| off_diagonal(xs[0].clone().corrcoef()),
        |xs, ct| {
            let (y, p) = xs[0].clone().corrcoef__vjp(Want::ALL);
            let (y, inner) = y.narrow__vjp(0, 0, 1, Want::ALL);
            let (_, outer) = y.narrow__vjp(1, 1, 2, Want::ALL);
            let (ct, ..) = pulled(outer, Some(ct));
            vec![pulled(p, pulled(inner, ct).0).0]
        },
        std::slice::from_ref(&x),
        GradCheck::default(),
    );
    let error = attempt(|| random(&[2], 0.0, 1.0, 1).cov(1)).unwrap_err().to_string();
    assert!(error.starts_with("cov: [2] was given"), "{error}");
}

#[test]
fn blocks_and_powers() {
    check(
        [&[2, 3], &[4]],
        |a, b| Array::from_fn(&[2, 12], |i| a.at(&[i[0], i[1] / 4]) * b.data[i[1] % 4]),
        Tensor::kron,
        vjp!(kron__vjp),
    );
    for exponent in [0usize, 1, 2, 5] {
        let x = random(&[2, 3, 3], -0.5, 0.5, 1).double();
        let identity = Array::from_fn(&[2, 3, 3], |i| f64::from(u8::from(i[1] == i[2])));
        let a = Array::of(&x);
        let times = |p: Array, _: usize| {
            Array::from_fn(&[2, 3, 3], |i| (0..3).map(|k| p.at(&[i[0], i[1], k]) * a.at(&[i[0], k, i[2]])).sum())
        };
        near(&x.clone().matrix_power(exponent), &(0..exponent).fold(identity, times), 1e-12);
        check_grad(
            |xs| xs[0].clone().matrix_power(exponent),
            |xs, ct| vec![pulled(xs[0].clone().matrix_power__vjp(exponent, Want::ALL).1, Some(ct)).0],
            &[x],
            GradCheck::default(),
        );
    }
    let error = attempt(|| random(&[2, 3], 0.0, 1.0, 1).matrix_power(2)).unwrap_err().to_string();
    assert_eq!(error, "matrix_power: [2, 3] is no square matrix, nor a batch of them");
}
