use crate::reference::{Array, SHAPES, check_unary, close, cpu, index, layouts, pulled, random};
use cotangent_runtime::diff::Want;
use cotangent_runtime::testing::{GradCheck, check_grad};
use cotangent_runtime::{Error, Tensor, attempt};

/// Applies `f` to each line of `x` along an axis.
fn along(x: &Array, axis: usize, f: impl Fn(&[f64]) -> Vec<f64>) -> Array {
    let mut out = x.clone();
    for n in 0..x.data.len() {
        let at = index(n, &x.shape);
        if at[axis] != 0 {
            continue;
        }
        let step: usize = x.shape[axis + 1..].iter().product();
        let line: Vec<f64> = (0..x.shape[axis]).map(|i| x.data[n + i * step]).collect();
        for (i, v) in f(&line).into_iter().enumerate() {
            out.data[n + i * step] = v;
        }
    }
    out
}

fn softmax(line: &[f64]) -> Vec<f64> {
    let m = line.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = line.iter().map(|v| (v - m).exp()).sum();
    line.iter().map(|v| (v - m).exp() / sum).collect()
}

#[test]
fn softmax_and_its_logarithm() {
    for (n, shape) in SHAPES.iter().enumerate().filter(|(_, shape)| !shape.is_empty()) {
        for axis in 0..shape.len() {
            for x in layouts(shape, -3.0, 3.0, n as u64) {
                let want = along(&Array::of(&x), axis, softmax);
                let back = axis as isize - shape.len() as isize;
                let vjp = |x: Tensor, w: Want| x.softmax__vjp(back, w);
                check_unary(&x, &want, |x| x.softmax(axis as isize), vjp, |p, ct| pulled(p, ct).0);
                let vjp = |x: Tensor, w: Want| x.log_softmax__vjp(back, w);
                let want = want.map(f64::ln);
                check_unary(&x, &want, |x| x.log_softmax(axis as isize), vjp, |p, ct| pulled(p, ct).0);
            }
        }
    }
}

#[test]
fn extremes_of_softmax() {
    let inf = f32::INFINITY;
    let x = Tensor::from_slice(&[1e4f32, 1e4, -inf, -inf, -inf, -inf], [2, 3], &cpu());
    let y = x.clone().softmax(-1).to_vec();
    assert_eq!(y[..3], [0.5, 0.5, 0.0]);
    assert!(y[3..].iter().all(|v| v.is_nan()));
    let l = x.log_softmax(-1).to_vec();
    assert!((l[0] + 0.5f32.ln().abs()).abs() < 1e-3 && l[2] == -inf);
    assert_eq!(Tensor::scalar(3.0f32, &cpu()).softmax(0).item(), 1.0);
    assert!(matches!(attempt(|| random(&[2], 0.0, 1.0, 0).softmax(1)), Err(Error::Argument { .. })));
}

#[test]
fn layer_norm() {
    for (n, shape) in SHAPES.iter().enumerate().filter(|(_, shape)| shape.last().is_some_and(|&c| c > 1)) {
        let c = [shape[shape.len() - 1]];
        for x in layouts(shape, -2.0, 2.0, n as u64) {
            let (w, b) = (random(&c, 0.5, 1.5, 7), random(&c, -1.0, 1.0, 8));
            let (nw, nb) = (Array::of(&w), Array::of(&b));
            let want = along(&Array::of(&x), shape.len() - 1, |line| {
                let mean = line.iter().sum::<f64>() / line.len() as f64;
                let var = line.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / line.len() as f64;
                let norm = |(i, v): (usize, &f64)| (v - mean) / (var + 1e-2).sqrt() * nw.data[i] + nb.data[i];
                line.iter().enumerate().map(norm).collect()
            });
            close(&x.clone().layer_norm(w.clone(), b.clone(), 1e-2), &want);
            for bits in 0..8 {
                let wants = [bits & 1 == 1, bits & 2 == 2, bits & 4 == 4];
                let (y, p) = x.clone().layer_norm__vjp(w.clone(), b.clone(), 1e-2, Want::of(&wants));
                close(&y, &want);
                let (dx, dw, db, ()) = pulled(p, Some(y.ones_like()));
                assert_eq!([dx.is_some(), dw.is_some(), db.is_some()], wants);
            }
            check_grad(
                |xs| xs[0].clone().layer_norm(xs[1].clone(), xs[2].clone(), 1e-2),
                |xs, ct| {
                    let (x, w, b) = (xs[0].clone(), xs[1].clone(), xs[2].clone());
                    let (dx, dw, db, ()) = pulled(x.layer_norm__vjp(w, b, 1e-2, Want::ALL).1, Some(ct));
                    vec![dx, dw, db]
                },
                &[x, w, b],
                GradCheck::default(),
            );
        }
    }
}

#[test]
fn layer_norm_names_misfits() {
    let (x, w) = (random(&[2, 3], 0.0, 1.0, 0), random(&[4], 0.0, 1.0, 0));
    let Err(Error::Shape { message, .. }) = attempt(|| x.layer_norm(w.clone(), w, 1e-5)) else {
        panic!("an error was expected")
    };
    assert!(message.contains("[4]") && message.contains("[2, 3]"), "{message}");
}
