use crate::reference::{Array, close, cpu, layouts, pulled, random};
use cotangent_runtime::diff::Want;
use cotangent_runtime::testing::{GradCheck, check_grad};
use cotangent_runtime::{Error, Int, Tensor, attempt};

fn targets(shape: &[usize], classes: usize) -> Tensor<Int> {
    let n: usize = shape.iter().product();
    let values: Vec<i64> = (0..n).map(|i| ((i * 7 + 2) % classes) as i64).collect();
    Tensor::from_slice(&values, shape, &cpu())
}

fn scalar(value: f64) -> Array {
    Array { shape: vec![], data: vec![value] }
}

/// The mean of the losses of rows whose target is not -100, in `f64`.
fn mean_of_others(x: &Tensor, targets: &[i64]) -> f64 {
    let (lines, classes) = (Array::of(x), x.size(-1));
    let rows = lines.data.chunks(classes).zip(targets).filter(|(_, t)| **t != -100);
    let losses: Vec<f64> = rows
        .map(|(line, &t)| {
            let m = line.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            line.iter().map(|v| (v - m).exp()).sum::<f64>().ln() + m - line[t as usize]
        })
        .collect();
    losses.iter().sum::<f64>() / losses.len() as f64
}

#[test]
fn cross_entropy() {
    for (n, shape) in [&[4, 3][..], &[1, 1], &[5], &[2, 3, 4], &[0, 3], &[40, 300]].iter().enumerate() {
        let (classes, rows) = (shape[shape.len() - 1], &shape[..shape.len() - 1]);
        let t = targets(rows, classes);
        for x in layouts(shape, -3.0, 3.0, n as u64) {
            let want = scalar(mean_of_others(&x, &t.to_vec()));
            close(&x.clone().cross_entropy(t.clone()), &want);
            let (y, p) = x.clone().cross_entropy__vjp(t.clone(), Want::NONE);
            close(&y, &want);
            assert!(pulled(p, Some(y.ones_like())).0.is_none());
            if t.numel() == 0 {
                continue;
            }
            check_grad(
                |xs| xs[0].clone().cross_entropy(t.clone()),
                |xs, ct| vec![pulled(xs[0].clone().cross_entropy__vjp(t.clone(), Want::ALL).1, Some(ct)).0],
                &[x],
                GradCheck::default(),
            );
        }
    }
}

#[test]
fn cross_entropy_ignores_rows() {
    for (n, shape) in [&[4, 3][..], &[1, 1], &[2, 3, 4], &[40, 300], &[6, 1]].iter().enumerate() {
        let (classes, rows) = (shape[shape.len() - 1], &shape[..shape.len() - 1]);
        for every in [1, 2, 3] {
            let mut picks = targets(rows, classes).to_vec();
            picks.iter_mut().step_by(every).for_each(|t| *t = -100);
            let ignored: Vec<bool> = picks.iter().map(|t| *t == -100).collect();
            let some_count = ignored.contains(&false);
            // Contiguous, and as a view with foreign targets between.
            let dense = Tensor::from_slice(&picks, rows, &cpu());
            let spread = cotangent_runtime::ops::stack(vec![dense.clone(), targets(rows, classes)], -1);
            for t in [dense, spread.narrow(-1, 0, 1).squeeze(-1)] {
                for x in layouts(shape, -3.0, 3.0, n as u64) {
                    let want = scalar(mean_of_others(&x, &picks));
                    close(&x.clone().cross_entropy(t.clone()), &want);
                    let (y, p) = x.clone().cross_entropy__vjp(t.clone(), Want::ALL);
                    close(&y, &want);
                    let dx = pulled(p, Some(y.ones_like())).0.expect("a cotangent").to_vec();
                    for (line, _) in dx.chunks(classes).zip(&ignored).filter(|(_, ignored)| **ignored) {
                        assert!(line.iter().all(|v| *v == 0.0), "an ignored row has a gradient");
                    }
                    if some_count {
                        check_grad(
                            |xs| xs[0].clone().cross_entropy(t.clone()),
                            |xs, ct| vec![pulled(xs[0].clone().cross_entropy__vjp(t.clone(), Want::ALL).1, Some(ct)).0],
                            &[x],
                            GradCheck::default(),
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn cross_entropy_of_ignored_rows_alone() {
    for rows in [1, 5, 300] {
        let t = Tensor::from_slice(&vec![-100i64; rows], [rows], &cpu());
        let (y, p) = random(&[rows, 3], 0.0, 1.0, 1).cross_entropy__vjp(t, Want::ALL);
        assert!(y.item().is_nan(), "the mean of nothing");
        assert_eq!(pulled(p, Some(y.ones_like())).0.expect("a cotangent").to_vec(), vec![0.0; rows * 3]);
    }
    // Without classes every other target is out of range.
    let t = Tensor::from_slice(&[-100i64, -100], [2], &cpu());
    let (y, p) = Tensor::zeros([2, 0], &cpu()).cross_entropy__vjp(t, Want::ALL);
    assert!(y.item().is_nan());
    assert_eq!(pulled(p, Some(y.ones_like())).0.expect("a cotangent").shape(), [2, 0]);
}

#[test]
fn cross_entropy_keeps_what_is_wrong_with_ignored_rows_out() {
    let x = Tensor::from_slice(&[f32::NAN, 1.0, f32::INFINITY, 0.0, 2.0, 2.0], [3, 2], &cpu());
    let t = Tensor::from_slice(&[-100i64, -100, 1], [3], &cpu());
    let (y, p) = x.cross_entropy__vjp(t, Want::ALL);
    close(&y, &scalar(2f64.ln()));
    let dx = pulled(p, Some(y.ones_like())).0.expect("a cotangent").to_vec();
    assert_eq!(dx[..4], [0.0; 4]);
}

#[test]
fn cross_entropy_refuses_targets() {
    let x = random(&[2, 3], 0.0, 1.0, 1);
    for bad in [3i64, -1, -99, -101, i64::MIN, i64::MAX] {
        let t = Tensor::from_slice(&[-100, bad], [2], &cpu());
        let Err(Error::Argument { message, .. }) = attempt(|| x.clone().cross_entropy(t)) else {
            panic!("an error was expected")
        };
        assert!(message.contains(&format!("{bad} ")) && message.contains("is 3"), "{message}");
        assert!(message.contains("or -100"), "{message}");
    }
    let t = targets(&[3], 3);
    let Err(Error::Shape { message, .. }) = attempt(|| x.clone().cross_entropy(t)) else {
        panic!("an error was expected")
    };
    assert!(message.contains("[2, 3]") && message.contains("[3]"), "{message}");
}

#[test]
fn cross_entropy_of_large_logits() {
    let x = Tensor::from_slice(&[1000.0f32, 0.0, -1000.0], [1, 3], &cpu());
    let t = Tensor::from_slice(&[1i64], [1], &cpu());
    assert_eq!(x.cross_entropy(t).item(), 1000.0);
}

#[test]
fn mse_loss() {
    for (n, shape) in [&[][..], &[3, 4], &[0], &[2, 1, 5], &[64, 128]].iter().enumerate() {
        for a in layouts(shape, -1.0, 1.0, n as u64) {
            for b in layouts(shape, -1.0, 1.0, n as u64 + 50) {
                let (x, y) = (Array::of(&a), Array::of(&b));
                let sum: f64 = x.data.iter().zip(&y.data).map(|(x, y)| (x - y).powi(2)).sum();
                close(&a.clone().mse_loss(b.clone()), &scalar(sum / x.data.len() as f64));
                for wants in [[false, false], [true, false], [false, true], [true, true]] {
                    let (y, p) = a.clone().mse_loss__vjp(b.clone(), Want::of(&wants));
                    let (da, db) = pulled(p, Some(y.ones_like()));
                    assert_eq!([da.is_some(), db.is_some()], wants);
                }
                if a.numel() > 0 {
                    check_grad(
                        |xs| xs[0].clone().mse_loss(xs[1].clone()),
                        |xs, ct| {
                            let p = xs[0].clone().mse_loss__vjp(xs[1].clone(), Want::ALL).1;
                            let (da, db) = pulled(p, Some(ct));
                            vec![da, db]
                        },
                        &[a.clone(), b],
                        GradCheck::default(),
                    );
                }
            }
        }
    }
    assert!(attempt(|| random(&[2], 0.0, 1.0, 0).mse_loss(random(&[1], 0.0, 1.0, 0))).is_err());
}
