use crate::reference::{
    Array, SHAPES, check_unary, close, cpu, exact, index, layouts, near, pulled, random, tolerance,
};
use cotangent_runtime::diff::Want;
use cotangent_runtime::testing::{GradCheck, check_grad};
use cotangent_runtime::{Error, Tensor, attempt};

/// All subsets of the axes of a shape.
pub(crate) fn subsets(rank: usize) -> impl Iterator<Item = Vec<usize>> {
    (0..1 << rank).map(move |mask| (0..rank).filter(|i| mask >> i & 1 == 1).collect())
}

/// The elements that fold into each element of the result, without and with the axes.
pub(crate) fn groups(x: &Array, axes: &[usize]) -> (Vec<usize>, Vec<usize>, Vec<Vec<f64>>) {
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

/// Declares the test of a reduction with the axes and without, over all layouts and sets of axes. An argument stands
/// before the axes or behind them.
macro_rules! check {
    ($test:ident: $name:ident $vjp:ident $keepdim:ident $keepdim_vjp:ident ($($before:expr)?; $($after:expr)?),
        $f:expr, $skip_empty:literal, $smooth:expr) => {
        #[test]
        fn $test() {
            let f: fn(&[f64]) -> f64 = $f;
            for (n, shape) in SHAPES.iter().enumerate() {
                for axes in subsets(shape.len()) {
                    if $skip_empty && axes.iter().any(|&i| shape[i] == 0) {
                        continue;
                    }
                    let few = if shape.iter().product::<usize>() > 1000 { 2 } else { 4 };
                    for x in layouts(shape, 0.2, 1.2, n as u64).into_iter().take(few) {
                        let (short, long, groups) = groups(&Array::of(&x), &axes);
                        let data: Vec<f64> = groups.iter().map(|g| f(g)).collect();
                        // Near a kink the step of the differences would cross it.
                        let smooth: fn(&[f64]) -> bool = $smooth;
                        let smooth = groups.iter().all(|g| smooth(g));
                        // Large ones are differentiated without the axes alone, which takes a while.
                        let large = x.numel() > 1000;
                        for (shape, keepdim) in [(short, false), (long, true)] {
                            let want = Array { shape, data: data.clone() };
                            let (x, axes) = (x.clone(), axes.clone());
                            let op = |x: Tensor| {
                                if keepdim {
                                    x.$keepdim($($before,)? &axes $(, $after)?)
                                } else {
                                    x.$name($($before,)? &axes $(, $after)?)
                                }
                            };
                            if !smooth || large && keepdim {
                                close(&op(x), &want);
                            } else if keepdim {
                                let vjp = |x: Tensor, w: Want| x.$keepdim_vjp($($before,)? &axes, $($after,)? w);
                                check_unary(&x, &want, op, vjp, |p, ct| pulled(p, ct).0);
                            } else {
                                let vjp = |x: Tensor, w: Want| x.$vjp($($before,)? &axes, $($after,)? w);
                                check_unary(&x, &want, op, vjp, |p, ct| pulled(p, ct).0);
                            }
                        }
                    }
                }
            }
        }
    };
}

/// How far the extremes lead.
fn lead(group: &[f64]) -> f64 {
    let mut sorted = group.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted[..] {
        [low, high] => high - low,
        [low, next, .., second, first] => (first - second).min(next - low),
        [low, middle, high] => (high - middle).min(middle - low),
        _ => f64::INFINITY,
    }
}

fn leads(group: &[f64]) -> bool {
    lead(group) > 0.1
}

fn largest(group: &[f64]) -> f64 {
    group.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn smallest(group: &[f64]) -> f64 {
    group.iter().copied().fold(f64::INFINITY, f64::min)
}

fn variance(group: &[f64], correction: f64) -> f64 {
    let n = group.len() as f64;
    let mean = group.iter().sum::<f64>() / n;
    group.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - correction).max(0.0)
}

fn norm(group: &[f64], p: f64) -> f64 {
    group.iter().map(|v| v.abs().powf(p)).sum::<f64>().powf(1.0 / p)
}

check!(sums: sum sum__vjp sum_keepdim sum_keepdim__vjp (;), |g| g.iter().sum(), false, |_| true);
check!(means: mean mean__vjp mean_keepdim mean_keepdim__vjp (;), |g| g.iter().sum::<f64>() / g.len() as f64, false, |_| true);
check!(products: prod prod__vjp prod_keepdim prod_keepdim__vjp (;), |g| g.iter().product(), false, |_| true);
check!(maxima: amax amax__vjp amax_keepdim amax_keepdim__vjp (;), largest, true, leads);
check!(minima: amin amin__vjp amin_keepdim amin_keepdim__vjp (;), smallest, true, leads);
check!(log_sums: logsumexp logsumexp__vjp logsumexp_keepdim logsumexp_keepdim__vjp (;),
    |g| g.iter().map(|v| v.exp()).sum::<f64>().ln(), false, |_| true);
check!(variances: var_with var_with__vjp var_with_keepdim var_with_keepdim__vjp (; 0.0), |g| variance(g, 0.0), false, |_| true);
check!(deviations: std_with std_with__vjp std_with_keepdim std_with_keepdim__vjp (; -1.0),
    |g| variance(g, -1.0).sqrt(), false, |g| variance(g, -1.0) > 0.01);
check!(norms_1: norm norm__vjp norm_keepdim norm_keepdim__vjp (1.0;), |g| norm(g, 1.0), false, |_| true);
check!(norms_2: norm norm__vjp norm_keepdim norm_keepdim__vjp (2.0;), |g| norm(g, 2.0), false, |_| true);
check!(norms_3: norm norm__vjp norm_keepdim norm_keepdim__vjp (3.0;), |g| norm(g, 3.0), false, |_| true);
check!(norms_infinite: norm norm__vjp norm_keepdim norm_keepdim__vjp (f64::INFINITY;), largest, true, leads);
check!(norms_minus_infinite: norm norm__vjp norm_keepdim norm_keepdim__vjp (f64::NEG_INFINITY;), smallest, true, leads);
check!(sums_of_numbers: nansum nansum__vjp nansum_keepdim nansum_keepdim__vjp (;), |g| g.iter().sum(), false, |_| true);
check!(means_of_numbers: nanmean nanmean__vjp nanmean_keepdim nanmean_keepdim__vjp (;),
    |g| g.iter().sum::<f64>() / g.len() as f64, false, |_| true);

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
