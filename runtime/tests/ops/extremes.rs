use crate::reduce::{groups, subsets};
use crate::reference::{Array, SHAPES, close, cpu, exact, layouts, pulled, random};
use cotangent_runtime::diff::{Pullback, Want};
use cotangent_runtime::testing::{GradCheck, check_grad};
use cotangent_runtime::{DType, Error, Int, Tensor, attempt};

/// The first place of the extreme that `better` finds.
fn first(group: &[f64], better: fn(&f64, &f64) -> bool) -> usize {
    (0..group.len()).reduce(|best, i| if better(&group[i], &group[best]) { i } else { best }).unwrap_or(0)
}

#[test]
fn extremes_and_their_places_along_each_axis() {
    for (n, shape) in SHAPES.iter().enumerate().filter(|(_, s)| !s.contains(&0) && !s.is_empty()) {
        for axis in 0..shape.len() {
            let back = axis as isize - shape.len() as isize;
            for x in layouts(shape, -1.0, 1.0, n as u64) {
                let (short, long, groups) = groups(&Array::of(&x), &[axis]);
                let check = |(y, at): (Tensor, Tensor<Int>), shape: &[usize], better: fn(&f64, &f64) -> bool| {
                    let places: Vec<usize> = groups.iter().map(|g| first(g, better)).collect();
                    let data = groups.iter().zip(&places).map(|(g, &i)| g[i]).collect();
                    exact(&y, &Array { shape: shape.to_vec(), data });
                    assert_eq!(at.shape(), shape);
                    assert_eq!(at.to_vec(), places.iter().map(|&i| i as i64).collect::<Vec<_>>());
                };
                check(x.clone().max_dim(back), &short, |a, b| a > b);
                check(x.clone().min_dim(back), &short, |a, b| a < b);
                check(x.clone().max_dim_keepdim(back), &long, |a, b| a > b);
                check(x.clone().min_dim_keepdim(back), &long, |a, b| a < b);
                let (low, high) = x.clone().aminmax(axis);
                check((low, x.clone().argmin(axis)), &short, |a, b| a < b);
                check((high, x.clone().argmax(axis)), &short, |a, b| a > b);
            }
        }
    }
}

#[test]
fn the_place_of_an_extreme_gets_its_cotangent() {
    for axis in 0..3 {
        let apart: Vec<f32> = (0..60).map(|i| (i * 37 % 60) as f32 / 10.0).collect();
        let x = Tensor::from_slice(&apart, [5, 4, 3], &cpu());
        for x in [x.clone().reshape([3, 4, 5]), x.transpose(0, 2)] {
            let f = |xs: &[Tensor]| xs[0].clone().max_dim(axis).0 + xs[0].clone().min_dim_keepdim(axis).0.squeeze(axis);
            let vjp = |xs: &[Tensor], ct: Tensor| {
                let (_, high) = xs[0].clone().max_dim__vjp(axis, Want::ALL);
                let (_, low) = xs[0].clone().min_dim_keepdim__vjp(axis, Want::ALL);
                let (a, ()) = pulled(high, (Some(ct.clone()), ()));
                let (b, ()) = pulled(low, (Some(ct.unsqueeze(axis)), ()));
                vec![a.zip(b).map(|(a, b)| a + b)]
            };
            check_grad(f, vjp, &[x], GradCheck::default());
        }
    }
    let ties = Tensor::from_slice(&[5.0f32, 1.0, 5.0], [3], &cpu());
    let (_, p) = ties.clone().max_dim__vjp(0, Want::ALL);
    let one = || Some(Tensor::scalar(1.0f32, &cpu()));
    assert_eq!(pulled(p, (one(), ())).0.map(|d| d.to_vec()), Some(vec![1.0, 0.0, 0.0]));
    let (_, p) = ties.clone().max_dim__vjp(0, Want::NONE);
    assert!(pulled(p, (one(), ())).0.is_none());
    let (_, p) = ties.aminmax__vjp(0, Want::ALL);
    let (dx, ()) = p.pull((one(), one()), &mut ());
    assert_eq!(dx.map(|d| d.to_vec()), Some(vec![0.5, 1.0, 0.5]));
}

#[test]
fn nan_counts_as_the_extreme() {
    let x = Tensor::from_slice(&[1.0f32, f32::NAN, 2.0, f32::NAN], [4], &cpu());
    for (y, at) in [x.clone().max_dim(0), x.clone().min_dim(-1)] {
        assert!(y.item().is_nan() && at.item() == 1);
    }
    assert!(x.clone().amin(..).item().is_nan());
    assert_eq!((x.clone().argmin(0).item(), x.argmax(..).item()), (1, 1));
}

#[test]
fn scalars_have_an_axis_of_their_own() {
    let x = Tensor::scalar(3.0f32, &cpu());
    let ((y, at), p) = x.clone().max_dim__vjp(-1, Want::ALL);
    assert_eq!((y.item(), at.item()), (3.0, 0));
    assert_eq!(pulled(p, (Some(y), ())).0.map(|d| d.item()), Some(3.0));
    assert!(matches!(attempt(|| x.max_dim(1)), Err(Error::Argument { .. })));
    let Err(Error::Shape { op, message }) = attempt(|| random(&[2, 0], 0.0, 1.0, 0).min_dim(1)) else {
        panic!("an error was expected")
    };
    assert!(op == "min_dim" && message.contains("axis 1 of [2, 0]"), "{message}");
}

#[test]
fn long_rows_are_searched_in_blocks() {
    let n = 70_003;
    let mut values = vec![0.0f32; n];
    for (at, value) in [(69_999, 2.0), (12_345, 2.0), (40_000, -1.0), (50_000, -1.0)] {
        values[at] = value;
    }
    let x = Tensor::from_slice(&values, [n], &cpu());
    assert_eq!((x.clone().argmax(..).item(), x.clone().argmin(0).item()), (12_345, 40_000));
    let ints = x.clone().int();
    assert_eq!((ints.clone().argmax(..).item(), ints.clone().argmin(0).item()), (12_345, 40_000));
    assert_eq!((ints.clone().amax(..).item(), ints.amin(..).item()), (2, -1));
    let twice = Tensor::from_slice(&[values.clone(), values].concat(), [2, n], &cpu()).narrow(1, 20_000, n - 20_000);
    assert_eq!(twice.clone().argmax(1).to_vec(), [49_999, 49_999]);
    assert_eq!(twice.transpose(0, 1).argmin(..).item(), 2 * 20_000);
}

#[test]
fn integers_of_every_dtype() {
    let values: Vec<i64> = (0..60).map(|i| i * 37 % 41 - 20).collect();
    for dtype in [DType::I64, DType::I32, DType::U8] {
        let x = Tensor::from_slice(&values, [3, 4, 5], &cpu()).to(dtype).transpose(0, 2);
        let stored = Array { shape: x.shape().to_vec(), data: x.to_vec().iter().map(|&v| v as f64).collect() };
        for axes in subsets(3) {
            let (short, long, groups) = groups(&stored, &axes);
            let of = |f: fn(&[f64]) -> f64| groups.iter().map(|g| f(g) as i64).collect::<Vec<_>>();
            let high = of(|g| g.iter().copied().fold(f64::MIN, f64::max));
            let low = of(|g| g.iter().copied().fold(f64::MAX, f64::min));
            assert_eq!((x.clone().amax(&axes).to_vec(), x.clone().amin_keepdim(&axes).to_vec()), (high, low));
            assert_eq!((x.clone().amax(&axes).dtype(), x.clone().amin_keepdim(&axes).shape()), (dtype, &long[..]));
            assert_eq!(x.clone().sum(&axes).to_vec(), of(|g| g.iter().sum()));
            let few = x.clone().narrow(0, 0, 1);
            assert_eq!((few.clone().prod(..).dtype(), few.prod_keepdim(0).shape()), (DType::I64, &[1, 4, 3][..]));
            let nonzero = of(|g| g.iter().filter(|v| **v != 0.0).count() as f64);
            assert_eq!(x.clone().count_nonzero(&axes).to_vec(), nonzero);
            assert_eq!(x.clone().any(&axes).shape(), short);
        }
        let (y, at) = x.clone().max_dim(1);
        assert_eq!((y.to_vec(), at.to_vec()), (x.clone().amax(1).to_vec(), x.argmax(1).to_vec()));
    }
    let three = Tensor::from_slice(&[3i64, -4, i64::MAX], [3], &cpu());
    assert_eq!(three.prod(..).item(), i64::MAX.wrapping_mul(-12));
}

#[test]
fn truth_over_axes() {
    let values = [true, false, true, true, false, false];
    let x = Tensor::from_slice(&values, [3, 2], &cpu());
    assert_eq!(x.clone().any(1).to_vec(), [true, true, false]);
    assert_eq!(x.clone().all(0).to_vec(), [false, false]);
    assert_eq!(x.clone().all_keepdim(1).shape(), [3, 1]);
    assert_eq!(x.clone().transpose(0, 1).count_nonzero(1).to_vec(), [2, 1]);
    assert_eq!((x.clone().any(..).item(), x.clone().all(..).item()), (true, false));
    let none = x.narrow(0, 0, 0);
    assert_eq!((none.clone().any(..).item(), none.clone().all(..).item()), (false, true));
    assert_eq!(none.any_keepdim(0).to_vec(), [false, false]);
    let floats = Tensor::from_slice(&[0.0f32, -0.0, f32::NAN, 2.0], [2, 2], &cpu());
    assert_eq!((floats.clone().any(1).to_vec(), floats.count_nonzero(..).item()), (vec![false, true], 2));
    let many = Tensor::from_slice(&vec![true; 100_001], [100_001], &cpu());
    assert_eq!((many.clone().count_nonzero(..).item(), many.all(..).item()), (100_001, true));
}

#[test]
fn products_of_zeros_have_gradients() {
    let ct = Some(Tensor::scalar(2.0f32, &cpu()));
    for (values, slopes) in
        [([2.0f32, 0.0, 3.0], [0.0, 12.0, 0.0]), ([0.0, 0.0, 3.0], [0.0; 3]), ([2.0, 4.0, 0.5], [4.0, 2.0, 16.0])]
    {
        let (_, p) = Tensor::from_slice(&values, [3], &cpu()).prod__vjp(.., Want::ALL);
        assert_eq!(pulled(p, ct.clone()).0.map(|d| d.to_vec()), Some(slopes.to_vec()));
    }
}

#[test]
fn moments_in_pairs() {
    for (n, shape) in [&[7][..], &[3, 4], &[2, 3, 4], &[40, 33]].iter().enumerate() {
        for axes in subsets(shape.len()).filter(|axes| !axes.is_empty()) {
            for x in layouts(shape, 100.0, 101.0, n as u64).into_iter().filter(|x| x.dtype().size() > 2) {
                let (var, mean) = x.clone().var_mean(&axes);
                let (std, again) = x.clone().std_mean_with_keepdim(&axes, 1.0);
                let (short, _, groups) = groups(&Array::of(&x), &axes);
                let means: Vec<f64> = groups.iter().map(|g| g.iter().sum::<f64>() / g.len() as f64).collect();
                let squares = |g: &Vec<f64>, m: f64| g.iter().map(|v| (v - m).powi(2)).sum::<f64>();
                let vars = groups.iter().zip(&means).map(|(g, &m)| squares(g, m) / (g.len() as f64 - 1.0)).collect();
                let want = Array { shape: short.clone(), data: vars };
                // The elements are rounded to 24 bits, 100 times coarser than their differences.
                crate::reference::near(&var, &want, 1e-4);
                close(&mean, &Array { shape: short.clone(), data: means.clone() });
                close(&again.reshape(&short), &Array { shape: short.clone(), data: means });
                crate::reference::near(&std.reshape(&short), &want.map(f64::sqrt), 1e-4);
            }
            let x = random(shape, -1.0, 1.0, 3);
            check_grad(
                |xs| {
                    let (std, mean) = xs[0].clone().std_mean(&axes);
                    std + mean * 2.0
                },
                |xs, ct| {
                    let (_, p) = xs[0].clone().std_mean__vjp(&axes, Want::ALL);
                    vec![pulled(p, (Some(ct.clone()), Some(ct * 2.0))).0]
                },
                &[x],
                GradCheck::default(),
            );
        }
    }
}

#[test]
fn moments_at_their_limits() {
    let x = Tensor::from_slice(&[3.0f32, 3.0], [2], &cpu());
    let (y, p) = x.clone().std__vjp(0, Want::ALL);
    assert_eq!((y.item(), pulled(p, Some(y.ones_like())).0.map(|d| d.to_vec())), (0.0, Some(vec![0.0, 0.0])));
    assert!(x.clone().narrow(0, 0, 1).var(0).item().is_nan() && x.clone().narrow(0, 0, 0).std(0).item().is_nan());
    let uneven = Tensor::from_slice(&[1.0f32, 2.0], [2], &cpu());
    assert_eq!(uneven.clone().var_with(.., 3.0).item(), f32::INFINITY);
    assert_eq!(uneven.var_keepdim(..).to_vec(), [0.5]);
    // The squares alone would lose all digits.
    let large = Tensor::from_slice(&[4096.0f32, 4097.0, 4098.0, 4099.0], [4], &cpu()) * 1024.0;
    assert_eq!(large.var(0).item(), 5.0 / 3.0 * 1024.0 * 1024.0);
}

#[test]
fn norms_at_their_limits() {
    let x = Tensor::from_slice(&[0.0f32, 2.0, -2.0, 1.0], [4], &cpu());
    for (p, y, slopes) in [
        (0.0, 3.0, None),
        (1.0, 5.0, Some([0.0, 1.0, -1.0, 1.0])),
        (2.0, 3.0, Some([0.0, 2.0 / 3.0, -2.0 / 3.0, 1.0 / 3.0])),
        (f64::INFINITY, 2.0, Some([0.0, 0.5, -0.5, 0.0])),
        (f64::NEG_INFINITY, 0.0, Some([0.0; 4])),
        (-1.0, 0.0, Some([0.0; 4])),
        (0.5, 14.656_854, Some([0.0, 2.707_106_6, -2.707_106_6, 3.828_427])),
    ] {
        let (got, pullback) = x.clone().norm__vjp(p, .., Want::ALL);
        assert!((got.item() - y).abs() < 1e-5, "{p}: {got}");
        let dx = pulled(pullback, Some(got.ones_like())).0.map(|d| d.to_vec());
        match (dx, slopes) {
            (None, None) => {}
            (Some(dx), Some(want)) => {
                assert!(dx.iter().zip(want).all(|(d, w): (&f32, f32)| (d - w).abs() < 1e-5), "{p}: {dx:?}");
            }
            (dx, _) => panic!("the norm {p} gives {dx:?}"),
        }
    }
    let none = x.clone().narrow(0, 0, 0);
    assert_eq!(none.clone().norm(3.0, 0).item(), 0.0);
    assert!(matches!(attempt(|| none.clone().norm(f64::INFINITY, 0)), Err(Error::Shape { .. })));
    assert!(matches!(attempt(|| none.norm(f64::NAN, 0)), Err(Error::Argument { .. })));
}

#[test]
fn sums_of_exponentials_at_their_limits() {
    let inf = f32::INFINITY;
    let x = Tensor::from_slice(&[1e4f32, 1e4, -inf, -inf, inf, 1.0, -inf, 2.0], [4, 2], &cpu());
    assert_eq!(x.clone().logsumexp(1).to_vec(), [1e4 + 2f32.ln(), -inf, inf, 2.0]);
    assert_eq!(x.narrow(1, 0, 0).logsumexp(1).to_vec(), [-inf; 4]);
    let mixed = Tensor::from_slice(&[1.0f32, f32::NAN, 3.0, f32::NAN], [2, 2], &cpu());
    assert_eq!((mixed.clone().nansum(0).to_vec(), mixed.clone().nanmean(..).item()), (vec![4.0, 0.0], 2.0));
    assert!(mixed.nanmean(0).to_vec()[1].is_nan());
}
