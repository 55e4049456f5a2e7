use crate::reference::{Array, close, layouts, pulled, random};
use cotangent_runtime::diff::Want;
use cotangent_runtime::testing::{GradCheck, check_grad};
use cotangent_runtime::{Error, Tensor, attempt};

const EPS: f64 = 0.25;

#[test]
fn channels_are_normalised() {
    for shape in [&[4, 3][..], &[2, 3, 5], &[3, 1, 2, 4], &[1, 2, 3], &[70, 5, 9]] {
        let (m, channels) = (shape.iter().product::<usize>() / shape[1], shape[1]);
        for x in layouts(shape, -1.0, 2.0, 1) {
            let dense = Array::of(&x);
            let of = |c: usize| {
                let all = (0..dense.data.len()).filter(move |i| i / (m / shape[0]) % channels == c);
                all.map(|i| dense.data[i])
            };
            let mean = Array::from_fn(&[channels], |at| of(at[0]).sum::<f64>() / m as f64);
            let var = Array::from_fn(&[channels], |at| {
                of(at[0]).map(|v| (v - mean.data[at[0]]).powi(2)).sum::<f64>() / m as f64
            });
            let (w, b) = (random(&[channels], 0.5, 1.5, 2), random(&[channels], -1.0, 1.0, 3));
            let (ws, bs) = (Array::of(&w), Array::of(&b));
            let want = Array::from_fn(shape, |at| {
                let c = at[1];
                (dense.at(at) - mean.data[c]) / (var.data[c] + EPS).sqrt() * ws.data[c] + bs.data[c]
            });
            let (y, got_mean, got_var) = x.clone().batch_norm(w.clone(), b.clone(), EPS);
            assert_eq!((y.dtype(), got_mean.dtype()), (x.dtype(), x.dtype().compute()));
            close(&y, &want);
            close(&got_mean, &mean);
            close(&got_var, &var);
            close(&x.clone().batch_norm_with(got_mean, got_var, w.clone(), b.clone(), EPS), &want);
        }
    }
}

#[test]
fn cotangents_of_the_statistics_count() {
    for x in layouts(&[3, 2, 4], -1.0, 2.0, 1) {
        let (w, b) = (random(&[2], 0.5, 1.5, 2), random(&[2], -1.0, 1.0, 3));
        // Everything that a batch norm gives, in one tensor.
        let all = |(y, mean, var): (Tensor, Tensor, Tensor)| y + (mean + var * 3.0).reshape([2, 1]);
        check_grad(
            |xs| all(xs[0].clone().batch_norm(xs[1].clone(), xs[2].clone(), EPS)),
            |xs, ct| {
                let [x, w, b] = [0, 1, 2].map(|i| xs[i].clone());
                let of_mean = ct.clone().to(x.dtype().compute()).sum([0, 2]);
                let cts = (Some(ct.to(x.dtype())), Some(of_mean.clone()), Some(of_mean * 3.0));
                let (x, w, b, ()) = pulled(x.batch_norm__vjp(w, b, EPS, Want::ALL).1, cts);
                vec![x, w, b]
            },
            &[x.clone(), w.clone(), b.clone()],
            GradCheck { most: 12, ..GradCheck::default() },
        );
        let (mean, var) = (random(&[2], -1.0, 1.0, 4), random(&[2], 0.5, 1.5, 5));
        check_grad(
            |xs| {
                let [x, mean, var, w, b] = std::array::from_fn(|i| xs[i].clone());
                x.batch_norm_with(mean, var, w, b, EPS)
            },
            |xs, ct| {
                let [x, mean, var, w, b] = std::array::from_fn(|i| xs[i].clone());
                let vjp = x.batch_norm_with__vjp(mean, var, w, b, EPS, Want::ALL);
                let (x, mean, var, w, b, ()) = pulled(vjp.1, Some(ct));
                vec![x, mean, var, w, b]
            },
            &[x, mean, var, w, b],
            GradCheck { most: 8, ..GradCheck::default() },
        );
    }
}

#[test]
fn parameters_may_be_left_out_and_nothing_is_given_where_nothing_is_wanted() {
    let x = random(&[3, 2, 4], -1.0, 1.0, 1);
    let (y, back) = x.clone().batch_norm__vjp(None, None, EPS, Want::ALL);
    let (dx, w, b, ()) = pulled(back, (Some(y.0.ones_like()), None, None));
    assert!(dx.is_some() && w.is_none() && b.is_none());
    let (y, back) = x.batch_norm__vjp(None, None, EPS, Want::NONE);
    assert!(pulled(back, (Some(y.0.ones_like()), None, None)).0.is_none());
}

#[test]
fn what_does_not_fit_is_named() {
    let check = |shape: &[usize], w: &[usize], part: &str| {
        let (x, w) = (random(shape, 0.0, 1.0, 1), random(w, 0.0, 1.0, 2));
        let error = attempt(|| x.batch_norm(w, None, EPS).0).unwrap_err();
        assert!(matches!(error, Error::Shape { .. }) && error.to_string().contains(part), "{error}");
    };
    check(&[3, 2, 4], &[3], "the weight is [3], axis 1 of [3, 2, 4] needs [2]");
    check(&[3], &[3], "the input is [3], expected [N, C, ..]");
    check(&[0, 2], &[2], "[0, 2] has no elements in a channel");
}
