use crate::reference::{
    Array, SHAPES, check_unary, close, cpu, exact, index, layouts, near, pulled, random, tolerance,
};
use cotangent_runtime::diff::Want;
use cotangent_runtime::testing::{GradCheck, check_grad};
use cotangent_runtime::{Error, Tensor, attempt};

/// All subsets of the axes of a shape.
fn subsets(rank: usize) -> impl Iterator<Item = Vec<usize>> {
    (0..1 << rank).map(move |mask| (0..rank).filter(|i| mask >> i & 1 == 1).collect())
}

/// The elements that fold into each element of the result, without and with the axes.
fn groups(x: &Array, axes: &[usize]) -> (Vec<usize>, Vec<usize>, Vec<Vec<f64>>) {
    let kept: Vec<usize> = (0..x.shape.len()).filter(|i| !axes.contains(i)).collect();
    let short: Vec<usize> = kept.iter().map(|&i| x.shape[i]).collect();
    let long: Vec<usize> = (0..x.shape.len()).map(|i| if axes.contains(&i) { 1 } else { x.shape[i] }).collect();
    let mut groups = vec![Vec::new(); short.iter().product()];
    for (n, &v) in x.data.iter().enumerate() {
        let at = index(n, &x.shape);
        groups[kept.iter().fold(0, |flat, &i| flat * x.shape[i] + at[i])].push(v);
    }
    (short, long, groups)
}

macro_rules! check {
    ($test:ident: $name:ident $vjp:ident $keepdim:ident $keepdim_vjp:ident, $f:expr, $skip_empty:literal) => {
        #[test]
        fn $test() {
            let f: fn(&[f64]) -> f64 = $f;
            for (n, shape) in SHAPES.iter().enumerate() {
                for axes in subsets(shape.len()) {
                    if $skip_empty && axes.iter().any(|&i| shape[i] == 0) {
                        continue;
                    }
                    for x in layouts(shape, -1.0, 1.0, n as u64) {
                        let (short, long, groups) = groups(&Array::of(&x), &axes);
                        let data: Vec<f64> = groups.iter().map(|g| f(g)).collect();
                        // Neighbours closer than the step of the differences would cross the kink of a maximum.
                        let smooth = !$skip_empty || groups.iter().all(|g| lead(g) > 0.1);
                        for (shape, keepdim) in [(short, false), (long, true)] {
                            let want = Array { shape, data: data.clone() };
                            let (x, axes) = (x.clone(), axes.clone());
                            let op = |x: Tensor| if keepdim { x.$keepdim(&axes) } else { x.$name(&axes) };
                            if !smooth {
                                close(&op(x), &want);
                            } else if keepdim {
                                let vjp = |x: Tensor, w: Want| x.$keepdim_vjp(&axes, w);
                                check_unary(&x, &want, op, vjp, |p, ct| pulled(p, ct).0);
                            } else {
                                let vjp = |x: Tensor, w: Want| x.$vjp(&axes, w);
                                check_unary(&x, &want, op, vjp, |p, ct| pulled(p, ct).0);
                            }
                        }
                    }
                }
            }
        }
    };
}

/// How far the largest number leads.
fn lead(group: &[f64]) -> f64 {
    let mut sorted = group.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted[..] {
        [.., second, first] => first - second,
        _ => f64::INFINITY,
    }
}

check!(sums: sum sum__vjp sum_keepdim sum_keepdim__vjp, |g| g.iter().sum(), false);
check!(means: mean mean__vjp mean_keepdim mean_keepdim__vjp, |g| g.iter().sum::<f64>() / g.len() as f64, false);
check!(maxima: amax amax__vjp amax_keepdim amax_keepdim__vjp, |g| g.iter().copied().fold(f64::NEG_INFINITY, f64::max), true);

#[test]
fn large_folds_cut_rows_and_slices() {
    for (shape, axes) in [
        (vec![70_003], vec![0]),
        (vec![3, 20_001], vec![1]),
        (vec![300, 257], vec![0, 1]),
        (vec![5, 300, 65], vec![1]),
        (vec![5, 300, 65], vec![0, 2]),
        (vec![3, 200, 4, 33], vec![0, 2]),
        (vec![3, 200, 4, 33], vec![1, 3]),
        (vec![2, 40_000, 3], vec![1]),
    ] {
        for x in layouts(&shape, -0.5, 1.0, 5) {
            let (short, _, groups) = groups(&Array::of(&x), &axes);
            let sum = groups.iter().map(|g| g.iter().sum()).collect();
            let want = Array { shape: short.clone(), data: sum };
            near(&x.clone().sum(&axes), &want, 10.0 * tolerance(x.dtype()));
            let max = groups.iter().map(|g| g.iter().copied().fold(f64::NEG_INFINITY, f64::max)).collect();
            exact(&x.amax(&axes), &Array { shape: short, data: max });
        }
    }
    // A plain running sum in f32 would stop at 2^24.
    let ones = Tensor::ones([1], &cpu()).expand([20_000_000]);
    assert_eq!(ones.sum(..).item(), 20_000_000.0);
}

#[test]
fn axes_are_written_in_many_ways() {
    let x = random(&[2, 3, 4], 0.0, 1.0, 1);
    assert_eq!(x.clone().sum(-1).shape(), [2, 3]);
    assert_eq!(x.clone().sum([0, -1]).shape(), [3]);
    assert_eq!(x.clone().sum(..).shape(), [0usize; 0]);
    assert_eq!(x.clone().mean_keepdim(1).shape(), [2, 1, 4]);
    assert!(matches!(attempt(|| x.clone().sum(3)), Err(Error::Argument { .. })));
    assert!(matches!(attempt(|| x.clone().sum([1, 1])), Err(Error::Argument { .. })));
}

#[test]
fn nothing_to_fold() {
    let x = Tensor::zeros([2, 0], &cpu());
    assert_eq!(x.clone().sum(1).to_vec(), [0.0, 0.0]);
    assert!(x.clone().mean(1).to_vec().iter().all(|v| v.is_nan()));
    assert_eq!(x.clone().amax(0).shape(), [0]);
    let Err(Error::Shape { op, message }) = attempt(|| x.clone().amax(1)) else { panic!("an error was expected") };
    assert!(op == "amax" && message.contains("axis 1 of [2, 0]"), "{message}");
    assert!(attempt(|| x.argmax(-1)).is_err());
}

#[test]
fn maxima_keep_nan_and_spread_ties() {
    let x = Tensor::from_slice(&[1.0f32, f32::NAN, 2.0, 5.0, 1.0, 5.0], [2, 3], &cpu());
    let y = x.clone().amax(1).to_vec();
    assert!(y[0].is_nan() && y[1] == 5.0);
    assert_eq!(x.clone().argmax(1).to_vec(), [1, 0]);
    let (y, p) = x.narrow(0, 1, 1).amax__vjp(.., Want::ALL);
    assert_eq!(pulled(p, Some(y.ones_like())).0.map(|d| d.to_vec()), Some(vec![0.5, 0.0, 0.5]));
}

#[test]
fn argmax_is_the_first_hit() {
    for (n, shape) in [&[7][..], &[3, 4], &[2, 3, 4], &[33, 129], &[]].iter().enumerate() {
        for axes in subsets(shape.len()) {
            for x in layouts(shape, -1.0, 1.0, n as u64) {
                let (short, _, groups) = groups(&Array::of(&x), &axes);
                let want: Vec<i64> = groups
                    .iter()
                    .map(|g| g.iter().position(|&v| g.iter().all(|&w| w <= v)).unwrap_or(0) as i64)
                    .collect();
                let got = x.argmax(&axes);
                assert_eq!(got.shape(), short);
                assert_eq!(got.to_vec(), want);
            }
        }
    }
}

#[test]
fn sums_after_views_give_gradients_of_their_operands() {
    check_grad(
        |xs| (xs[0].clone() * xs[1].clone()).sum(0),
        |xs, ct| {
            let (y, mul) = xs[0].clone().mul__vjp(xs[1].clone(), Want::ALL);
            let (_, sum) = y.sum__vjp(0, Want::ALL);
            let (a, b) = pulled(mul, pulled(sum, Some(ct)).0);
            vec![a, b]
        },
        &[random(&[3, 4], -1.0, 1.0, 1), random(&[4], -1.0, 1.0, 2)],
        GradCheck::default(),
    );
}
