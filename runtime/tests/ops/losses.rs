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

#[test]
fn cross_entropy() {
    for (n, shape) in [&[4, 3][..], &[1, 1], &[5], &[2, 3, 4], &[0, 3], &[40, 300]].iter().enumerate() {
        let (classes, rows) = (shape[shape.len() - 1], &shape[..shape.len() - 1]);
        let t = targets(rows, classes);
        for x in layouts(shape, -3.0, 3.0, n as u64) {
            let (lines, picks) = (Array::of(&x), t.to_vec());
            let losses = lines.data.chunks(classes).zip(&picks).map(|(line, &t)| {
                let m = line.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                line.iter().map(|v| (v - m).exp()).sum::<f64>().ln() + m - line[t as usize]
            });
            let want = scalar(losses.sum::<f64>() / picks.len() as f64);
            close(&x.clone().cross_entropy(t.clone()), &want);
            let (y, p) = x.clone().cross_entropy__vjp(t.clone(), Want::NONE);
            close(&y, &want);
            assert!(pulled(p, Some(y.ones_like())).0.is_none());
            if picks.is_empty() {
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
fn cross_entropy_refuses_targets() {
    let x = random(&[2, 3], 0.0, 1.0, 1);
    for bad in [3i64, -1] {
        let t = Tensor::from_slice(&[0, bad], [2], &cpu());
        let Err(Error::Argument { message, .. }) = attempt(|| x.clone().cross_entropy(t)) else {
            panic!("an error was expected")
        };
        assert!(message.contains(&format!("{bad} ")) && message.contains("is 3"), "{message}");
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
