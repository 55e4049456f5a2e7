use crate::reference::{Array, SHAPES, cpu, exact, layouts, pulled, random};
use crate::scan::along;
use cotangent_runtime::diff::Want;
use cotangent_runtime::testing::{GradCheck, check_grad};
use cotangent_runtime::{Bool, DType, Error, Int, Tensor, attempt};

/// The places of a line in stable order.
fn order(line: &[f64], descending: bool) -> Vec<usize> {
    let mut places: Vec<usize> = (0..line.len()).collect();
    places.sort_by(|&a, &b| {
        let (a, b) = if descending { (b, a) } else { (a, b) };
        line[a].partial_cmp(&line[b]).expect("numbers")
    });
    places
}

fn ints(x: &Array) -> Vec<i64> {
    x.data.iter().map(|&v| v as i64).collect()
}

fn vector(values: &[f32]) -> Tensor {
    Tensor::from_slice(values, [values.len()], &cpu())
}

fn integers(values: &[i64]) -> Tensor<Int> {
    Tensor::from_slice(values, [values.len()], &cpu())
}

#[test]
fn lines_are_sorted_along_each_axis() {
    for (n, shape) in SHAPES.iter().enumerate().filter(|(_, shape)| !shape.is_empty()) {
        for axis in 0..shape.len() {
            let back = axis as isize - shape.len() as isize;
            for x in layouts(shape, -1.0, 1.0, n as u64) {
                for descending in [false, true] {
                    let given = Array::of(&x);
                    let (y, at) = x.clone().sort(back, descending);
                    let sorted = |l: &[f64]| order(l, descending).into_iter().map(|i| l[i]).collect();
                    exact(&y, &along(&given, axis, sorted));
                    let places = along(&given, axis, |l| order(l, descending).iter().map(|&i| i as f64).collect());
                    assert_eq!((y.dtype(), at.shape()), (x.dtype(), *shape));
                    assert_eq!(at.to_vec(), ints(&places));
                    assert_eq!(x.clone().argsort(axis as isize, descending).to_vec(), ints(&places));
                    let k = shape[axis] / 2;
                    let (first, places) = x.clone().topk(k, back, descending, true);
                    assert_eq!(first.to_vec(), y.clone().narrow(back, 0, k).to_vec());
                    assert_eq!(places.to_vec(), at.clone().narrow(back, 0, k).to_vec());
                    if shape[axis] > 0 && !descending {
                        let (low, place) = x.clone().kthvalue(k + 1, back);
                        assert_eq!(low.to_vec(), y.clone().narrow(back, k, 1).to_vec());
                        assert_eq!(place.to_vec(), at.clone().narrow(back, k, 1).to_vec());
                        let (middle, place) = x.clone().median(back);
                        let half = (shape[axis] - 1) / 2;
                        assert_eq!(middle.to_vec(), y.narrow(back, half, 1).squeeze(back).to_vec());
                        assert_eq!(place.to_vec(), at.narrow(back, half, 1).squeeze(back).to_vec());
                    }
                }
            }
        }
    }
}

#[test]
fn long_lines_and_every_dtype() {
    let values: Vec<i64> = (0..40_000u64).map(|i| (i * 7_919_777 % 1013) as i64 - 500).collect();
    let x = integers(&values);
    let places = order(&values.iter().map(|&v| v as f64).collect::<Vec<_>>(), true);
    for dtype in [DType::I64, DType::I32] {
        let (y, at) = x.clone().to(dtype).sort(0, true);
        assert_eq!(at.to_vec(), places.iter().map(|&i| i as i64).collect::<Vec<_>>());
        assert_eq!(y.to_vec(), places.iter().map(|&i| values[i]).collect::<Vec<_>>());
    }
    for dtype in [DType::F32, DType::F64, DType::F16, DType::BF16] {
        let x = x.clone().float().to(dtype);
        let stored: Vec<f64> = x.to_vec_of();
        let places = order(&stored, true);
        let (y, at) = x.clone().sort(0, true);
        assert_eq!(y.to_vec_of::<f64>(), places.iter().map(|&i| stored[i]).collect::<Vec<_>>());
        let (first, at_first) = x.clone().topk(100, 0, true, false);
        assert_eq!((first.to_vec(), at_first.to_vec()), (y.narrow(0, 0, 100).to_vec(), at.narrow(0, 0, 100).to_vec()));
        let rows = x.reshape([400, 100]).transpose(0, 1);
        assert_eq!(rows.clone().sort(1, false).0.to_vec(), rows.contiguous().sort(-1, false).0.to_vec());
    }
    let truths = Tensor::<Bool>::from_slice(&[true, false, true, false], [4], &cpu());
    let (y, at) = truths.sort(0, false);
    assert_eq!((y.to_vec(), at.to_vec()), (vec![false, false, true, true], vec![1, 3, 0, 2]));
}

#[test]
fn nan_is_the_largest_and_zeros_are_equal() {
    let (nan, inf) = (f32::NAN, f32::INFINITY);
    let x = vector(&[0.0, -0.0, nan, inf, -inf, -nan]);
    let (y, at) = x.clone().sort(0, false);
    assert_eq!(at.to_vec(), [4, 0, 1, 3, 2, 5]);
    assert_eq!(
        y.to_vec()[..4].iter().map(|v| v.to_bits()).collect::<Vec<_>>(),
        [-inf, 0.0, -0.0, inf].map(f32::to_bits)
    );
    assert!(y.to_vec()[4..].iter().all(|v| v.is_nan()));
    assert_eq!(x.clone().argsort(0, true).to_vec(), [2, 5, 3, 0, 1, 4]);
    assert_eq!(x.clone().topk(2, 0, true, true).1.to_vec(), [2, 5]);
    assert_eq!(x.clone().topk(1, 0, false, true).1.to_vec(), [4]);
    let (y, at) = x.median(0);
    assert!(y.item().is_nan() && at.item() == 2);
    assert_eq!(vector(&[2.0, 1.0, 2.0, 4.0, 2.0]).median(0).0.item(), 2.0);
}

#[test]
fn cotangents_go_back_to_their_places() {
    for axis in 0..2 {
        for x in layouts(&[6, 5], 0.0, 10.0, 3).into_iter().take(3) {
            let options = || GradCheck { step: 1e-5, ..GradCheck::default() };
            check_grad(
                |xs| xs[0].clone().sort(axis, true).0.exp(),
                |xs, ct| {
                    let ((y, _), p) = xs[0].clone().sort__vjp(axis, true, Want::ALL);
                    vec![pulled(p, (Some(y.exp() * ct), ())).0]
                },
                &[x.clone()],
                options(),
            );
            check_grad(
                |xs| xs[0].clone().topk(2, axis, false, true).0.square(),
                |xs, ct| {
                    let ((y, _), p) = xs[0].clone().topk__vjp(2, axis, false, true, Want::ALL);
                    vec![pulled(p, (Some(y * 2.0 * ct), ())).0]
                },
                &[x.clone()],
                options(),
            );
            check_grad(
                |xs| xs[0].clone().kthvalue(3, axis).0 + xs[0].clone().median(axis).0,
                |xs, ct| {
                    let (_, p) = xs[0].clone().kthvalue__vjp(3, axis, Want::ALL);
                    let (_, q) = xs[0].clone().median__vjp(axis, Want::ALL);
                    let (a, b) = (pulled(p, (Some(ct.clone()), ())).0, pulled(q, (Some(ct), ())).0);
                    vec![a.zip(b).map(|(a, b)| a + b)]
                },
                &[x],
                options(),
            );
        }
    }
    let (_, p) = random(&[4], 0.0, 1.0, 1).sort__vjp(0, false, Want::NONE);
    assert!(pulled(p, (Some(random(&[4], 0.0, 1.0, 1)), ())).0.is_none());
}

#[test]
fn counts_that_do_not_fit_are_named() {
    let x = random(&[2, 3], 0.0, 1.0, 0);
    for (got, wanted) in [
        (attempt(|| x.clone().topk(4, 1, true, true)).map(drop), "k = 4 was given, but axis 1 of [2, 3] is 3"),
        (attempt(|| x.clone().kthvalue(0, 0)).map(drop), "expected 1 <= k <= 2"),
    ] {
        let Err(Error::Argument { message, .. }) = got else { panic!("an error was expected") };
        assert!(message.contains(wanted), "{message}");
    }
    assert!(matches!(attempt(|| x.clone().sort(2, false)), Err(Error::Argument { .. })));
    assert!(matches!(attempt(|| x.narrow(1, 0, 0).median(1)), Err(Error::Shape { .. })));
    let scalar = Tensor::scalar(3.0f32, &cpu());
    assert_eq!((scalar.clone().sort(0, true).0.item(), scalar.clone().topk(1, -1, true, true).1.item()), (3.0, 0));
    assert_eq!((scalar.clone().median(0).0.item(), scalar.kthvalue(1, 0).1.item()), (3.0, 0));
}

#[test]
fn different_elements_once() {
    let x = Tensor::from_slice(&[2.0f32, 5.0, 1.0, 2.0, 5.0, 5.0], [2, 3], &cpu()).transpose(0, 1);
    assert_eq!(x.clone().unique().to_vec(), [1.0, 2.0, 5.0]);
    let (values, numbers, counts) = x.unique_with();
    assert_eq!((values.to_vec(), counts.to_vec()), (vec![1.0, 2.0, 5.0], vec![1, 2, 3]));
    assert_eq!((numbers.shape(), numbers.to_vec()), (&[3, 2][..], vec![1, 1, 2, 2, 0, 2]));
    let (values, numbers, counts) = integers(&[4, 4, -1, 4, 4, 4]).to(DType::I32).unique_consecutive_with();
    assert_eq!((values.to_vec(), values.dtype()), (vec![4, -1, 4], DType::I32));
    assert_eq!((numbers.to_vec(), counts.to_vec()), (vec![0, 0, 1, 2, 2, 2], vec![2, 1, 3]));
    assert_eq!(vector(&[f32::NAN, 1.0, f32::NAN]).unique().shape(), [3]);
    let truths = Tensor::<Bool>::from_slice(&[true, false, true], [3], &cpu());
    assert_eq!(truths.unique_with().0.to_vec(), [false, true]);
    let (values, numbers, counts) = vector(&[]).unique_with();
    assert_eq!((values.shape(), numbers.shape(), counts.shape()), (&[0][..], &[0][..], &[0][..]));
    assert_eq!(Tensor::scalar(3.0f32, &cpu()).unique().to_vec(), [3.0]);
    let many: Vec<i64> = (0..50_000).map(|i| i * i % 997).collect();
    let (values, numbers, counts) = integers(&many).unique_with();
    let (values, counts) = (values.to_vec(), counts.to_vec());
    assert!(numbers.to_vec().iter().zip(&many).all(|(&n, &v)| values[n as usize] == v));
    assert!(values.is_sorted() && counts.iter().sum::<i64>() == 50_000);
}

#[test]
fn places_of_what_is_not_zero() {
    let x = Tensor::from_slice(&[0.0f32, 2.0, f32::NAN, -0.0], [2, 2], &cpu());
    assert_eq!((x.clone().nonzero().shape(), x.clone().nonzero().to_vec()), (&[2, 2][..], vec![0, 1, 1, 0]));
    assert_eq!(x.transpose(0, 1).ne(0.0).nonzero().to_vec(), [0, 1, 1, 0]);
    assert_eq!(Tensor::scalar(3.0f32, &cpu()).nonzero().shape(), [1, 0]);
    assert_eq!(random(&[3, 0], 0.0, 1.0, 1).nonzero().shape(), [0, 2]);
    let every_third: Vec<bool> = (0..30_000).map(|i| i % 3 == 0).collect();
    let indices = Tensor::<Bool>::from_slice(&every_third, [100, 300], &cpu()).nonzero();
    assert_eq!((indices.shape(), indices.clone().narrow(0, 101, 1).to_vec()), (&[10_000, 2][..], vec![1, 3]));
}

#[test]
fn sorted_sequences_are_searched() {
    let (nan, inf) = (f32::NAN, f32::INFINITY);
    let (sorted, values) = (vector(&[1.0, 2.0, 2.0, nan]), vector(&[0.0, 2.0, nan, 3.0, inf]));
    assert_eq!(sorted.clone().searchsorted(values.clone(), false).to_vec(), [0, 1, 4, 4, 4]);
    assert_eq!(sorted.searchsorted(values.clone(), true).to_vec(), [0, 4, 4, 4, 4]);
    assert_eq!(values.reshape([5, 1]).bucketize(vector(&[1.0, 3.0]), false).to_vec(), [0, 1, 2, 1, 2]);
    let rows = Tensor::<Int>::from_slice(&[1, 3, 5, 10, 30, 50], [2, 3], &cpu());
    let values = Tensor::<Int>::from_slice(&[3, 9, 3, 30], [2, 2], &cpu());
    assert_eq!(rows.clone().searchsorted(values.clone(), true).to_vec(), [2, 3, 0, 2]);
    assert_eq!(values.clone().isin(integers(&[30, 9, 9])).to_vec(), [false, true, false, true]);
    assert_eq!(vector(&[1.0, nan, 2.0]).isin(vector(&[nan, 2.0])).to_vec(), [false, false, true]);
    assert_eq!(vector(&[1.0]).isin(vector(&[])).to_vec(), [false]);
    let Err(Error::Shape { op, message }) = attempt(|| rows.clone().searchsorted(integers(&[1]), false)) else {
        panic!("an error was expected")
    };
    assert!(op == "searchsorted" && message.contains("[2, 3]") && message.contains("[1]"), "{message}");
    assert!(matches!(attempt(|| values.bucketize(rows, false)), Err(Error::Shape { .. })));
}

#[test]
fn values_are_counted() {
    assert_eq!(integers(&[1, 1, 3]).bincount(6).to_vec(), [0, 2, 0, 1, 0, 0]);
    assert_eq!(integers(&[1, 1, 3]).bincount(0).to_vec(), [0, 2, 0, 1]);
    assert_eq!(integers(&[]).bincount(2).to_vec(), [0, 0]);
    assert!(matches!(attempt(|| integers(&[1, -3]).bincount(0)), Err(Error::Argument { .. })));
    let x = vector(&[0.0, 1.0, 2.0, 2.0, 5.0, f32::NAN]);
    assert_eq!(x.clone().histc(4, 0.0, 4.0).to_vec(), [1.0, 1.0, 2.0, 0.0]);
    assert_eq!(x.clone().narrow(0, 0, 5).histc(4, 0.0, 0.0).to_vec(), [2.0, 2.0, 0.0, 1.0]);
    assert_eq!(vector(&[2.0, 2.0]).histc(4, 0.0, 0.0).to_vec(), [0.0, 0.0, 2.0, 0.0]);
    assert_eq!(vector(&[]).histc(2, 0.0, 0.0).to_vec(), [0.0, 0.0]);
    for (bins, low, high) in [(0, 0.0, 1.0), (3, 1.0, 0.0), (3, 0.0, 0.0)] {
        assert!(matches!(attempt(|| x.clone().histc(bins, low, high)), Err(Error::Argument { .. })), "{bins}");
    }
}
