use crate::reference::{Array, close, cpu, exact, layouts, pulled};
use cotangent_runtime::diff::Want;
use cotangent_runtime::testing::{GradCheck, check_grad};
use cotangent_runtime::{DType, Error, Int, Rng, Tensor, attempt};

/// Windows over rows and columns.
#[derive(Clone, Copy, Debug)]
struct Pool {
    kernel: [usize; 2],
    stride: [usize; 2],
    padding: [usize; 2],
    dilation: [usize; 2],
    ceil: bool,
}

const PLAIN: Pool = Pool { kernel: [2; 2], stride: [2; 2], padding: [0; 2], dilation: [1; 2], ceil: false };

const POOLS: &[([usize; 2], Pool)] = &[
    ([6, 8], PLAIN),
    ([7, 5], PLAIN),
    ([7, 5], Pool { ceil: true, ..PLAIN }),
    ([5, 5], Pool { kernel: [5; 2], stride: [5; 2], ..PLAIN }),
    ([1, 1], Pool { kernel: [1; 2], stride: [1; 2], ..PLAIN }),
    ([9, 7], Pool { kernel: [3, 2], stride: [2, 1], padding: [1, 1], ..PLAIN }),
    ([9, 8], Pool { kernel: [3, 3], stride: [2, 3], padding: [1, 0], ceil: true, ..PLAIN }),
    ([9, 9], Pool { kernel: [3, 2], stride: [1, 2], padding: [2, 0], dilation: [2, 3], ..PLAIN }),
    ([20, 40], Pool { kernel: [17, 17], stride: [1, 5], padding: [3, 3], ..PLAIN }),
];

impl Pool {
    fn output(&self, size: [usize; 2]) -> [usize; 2] {
        [0, 1].map(|i| {
            let room = size[i] + 2 * self.padding[i] - self.dilation[i] * (self.kernel[i] - 1) - 1;
            let count = if self.ceil { room.div_ceil(self.stride[i]) } else { room / self.stride[i] } + 1;
            count - usize::from(self.ceil && (count - 1) * self.stride[i] >= size[i] + self.padding[i])
        })
    }

    /// Values of the last two axes in a window, with their places.
    fn window(&self, x: &Array, at: &[usize]) -> Vec<(usize, f64)> {
        let [.., h, w] = x.shape[..] else { panic!("planes") };
        let lead = at.len() - 2;
        let mut found = Vec::new();
        for k in 0..self.kernel[0] {
            for l in 0..self.kernel[1] {
                let place = |i: usize, tap: usize| {
                    (at[lead + i] * self.stride[i] + tap * self.dilation[i]).checked_sub(self.padding[i])
                };
                if let (Some(row), Some(column)) = (place(0, k), place(1, l))
                    && row < h
                    && column < w
                {
                    found.push((row * w + column, x.at(&[&at[..lead], &[row, column]].concat())));
                }
            }
        }
        found
    }
}

/// Different numbers far enough apart for differences, in random order.
fn apart(shape: &[usize], seed: u64) -> Tensor {
    let n: usize = shape.iter().product();
    let (mut rng, mut values) = (Rng::seed(seed), (0..n).map(|i| i as f64 * 0.0625 - 2.0).collect::<Vec<_>>());
    for i in (1..n).rev() {
        values.swap(i, (rng.uniform() * (i + 1) as f64) as usize % (i + 1));
    }
    Tensor::from_slice_of(&values, shape, &cpu())
}

fn first((value, place): (usize, f64), (best, at): (f64, usize)) -> (f64, usize) {
    if place > best { (place, value) } else { (best, at) }
}

#[test]
fn the_largest_elements_of_windows() {
    for &(size, pool) in POOLS {
        let Pool { kernel, stride, padding, dilation, ceil } = pool;
        for lead in [&[][..], &[3], &[2, 2], &[0, 2], &[65, 1]] {
            let shape = [lead, &size].concat();
            if lead.len() == 2 && size[0] > 10 {
                continue;
            }
            for x in layouts(&shape, -1.0, 1.0, 1) {
                let dense = Array::of(&x);
                let output = [lead, &pool.output(size)].concat();
                let found = |at: &[usize]| {
                    pool.window(&dense, at).into_iter().fold((f64::NEG_INFINITY, 0), |best, next| first(next, best))
                };
                let (values, places) =
                    (Array::from_fn(&output, |at| found(at).0), Array::from_fn(&output, |at| found(at).1 as f64));
                exact(&x.clone().max_pool2d_with(kernel, stride, padding, dilation, ceil), &values);
                let (y, at) = x.clone().max_pool2d_with_indices(kernel, stride, padding, dilation, ceil);
                exact(&y, &values);
                assert_eq!(at.to_vec(), places.data.iter().map(|&p| p as i64).collect::<Vec<_>>());
                let (y, back) = x.clone().max_pool2d_with__vjp(kernel, stride, padding, dilation, ceil, Want::ALL);
                exact(&y, &values);
                assert!(pulled(back, None).0.is_none());
                let (y, back) = x.clone().max_pool2d_with__vjp(kernel, stride, padding, dilation, ceil, Want::NONE);
                assert!(pulled(back, Some(y.ones_like())).0.is_none());
            }
        }
        let x = apart(&[2, size[0], size[1]], 4);
        let options = || GradCheck { most: 12, ..GradCheck::default() };
        let f = |xs: &[Tensor]| xs[0].clone().max_pool2d_with(kernel, stride, padding, dilation, ceil);
        check_grad(
            f,
            |xs, ct| {
                vec![
                    pulled(
                        xs[0].clone().max_pool2d_with__vjp(kernel, stride, padding, dilation, ceil, Want::ALL).1,
                        Some(ct),
                    )
                    .0,
                ]
            },
            std::slice::from_ref(&x),
            options(),
        );
        check_grad(
            f,
            |xs, ct| {
                let vjp =
                    xs[0].clone().max_pool2d_with_indices__vjp(kernel, stride, padding, dilation, ceil, Want::ALL);
                vec![pulled(vjp.1, (Some(ct), ())).0]
            },
            &[x],
            options(),
        );
    }
}

#[test]
fn the_means_of_windows() {
    for &(size, pool) in POOLS.iter().filter(|(_, pool)| pool.dilation == [1; 2]) {
        let Pool { kernel, stride, padding, ceil, .. } = pool;
        for x in layouts(&[2, size[0], size[1]], -1.0, 1.0, 1) {
            for (pad, divisor) in [(true, None), (false, None), (false, Some(7))] {
                let dense = Array::of(&x);
                let output = [&[2][..], &pool.output(size)].concat();
                let want = Array::from_fn(&output, |at| {
                    let values = pool.window(&dense, at);
                    let padded: usize = (0..2)
                        .map(|i| {
                            let start = at[1 + i] * stride[i];
                            (start + kernel[i]).min(size[i] + 2 * padding[i]) - start
                        })
                        .product();
                    let by = divisor.unwrap_or(if pad { padded } else { values.len() });
                    values.iter().map(|v| v.1).sum::<f64>() / by as f64
                });
                let f = |xs: &[Tensor]| xs[0].clone().avg_pool2d_with(kernel, stride, padding, ceil, pad, divisor);
                close(&f(std::slice::from_ref(&x)), &want);
                check_grad(
                    f,
                    |xs, ct| {
                        let vjp =
                            xs[0].clone().avg_pool2d_with__vjp(kernel, stride, padding, ceil, pad, divisor, Want::ALL);
                        vec![pulled(vjp.1, Some(ct)).0]
                    },
                    std::slice::from_ref(&x),
                    GradCheck { most: 6, ..GradCheck::default() },
                );
            }
        }
    }
}

#[test]
fn windows_share_out_the_axes() {
    for (size, output) in [([5, 7], [2, 3]), ([5, 7], [1, 1]), ([4, 3], [4, 3]), ([2, 3], [5, 4]), ([6, 6], [3, 0])] {
        let range = |i: usize, n: usize| n * size[i] / output[i]..((n + 1) * size[i]).div_ceil(output[i]);
        for x in layouts(&[2, size[0], size[1]], -1.0, 1.0, 2) {
            let dense = Array::of(&x);
            let shape = [2, output[0], output[1]];
            let values = |at: &[usize]| -> Vec<f64> {
                let columns = || range(1, at[2]);
                range(0, at[1])
                    .flat_map(|r| columns().map(move |c| [r, c]))
                    .map(|[r, c]| dense.at(&[at[0], r, c]))
                    .collect()
            };
            let means = Array::from_fn(&shape, |at| values(at).iter().sum::<f64>() / values(at).len() as f64);
            close(&x.clone().adaptive_avg_pool2d(output), &means);
            let largest = Array::from_fn(&shape, |at| values(at).into_iter().fold(f64::NEG_INFINITY, f64::max));
            exact(&x.clone().adaptive_max_pool2d(output), &largest);
            exact(&x.clone().adaptive_max_pool2d_with_indices(output).0, &largest);
            check_grad(
                |xs| xs[0].clone().adaptive_avg_pool2d(output),
                |xs, ct| vec![pulled(xs[0].clone().adaptive_avg_pool2d__vjp(output, Want::ALL).1, Some(ct)).0],
                &[x],
                GradCheck { most: 6, ..GradCheck::default() },
            );
        }
        check_grad(
            |xs| xs[0].clone().adaptive_max_pool2d(output),
            |xs, ct| vec![pulled(xs[0].clone().adaptive_max_pool2d__vjp(output, Want::ALL).1, Some(ct)).0],
            &[apart(&[2, size[0], size[1]], 3)],
            GradCheck { most: 10, ..GradCheck::default() },
        );
    }
}

#[test]
fn rows_are_pooled_as_planes_of_one_row() {
    for x in layouts(&[2, 3, 9], -1.0, 1.0, 5) {
        let plane = |x: Tensor| x.unsqueeze(-2);
        let same = |a: Tensor, b: Tensor| exact(&a, &Array::of(&b.squeeze(-2)));
        same(x.clone().max_pool1d(2), plane(x.clone()).max_pool2d([1, 2]));
        same(
            x.clone().max_pool1d_with(3, 2, 1, 2, true),
            plane(x.clone()).max_pool2d_with([1, 3], [1, 2], [0, 1], [1, 2], true),
        );
        same(x.clone().avg_pool1d(4), plane(x.clone()).avg_pool2d([1, 4]));
        same(
            x.clone().avg_pool1d_with(3, 2, 1, true, true, None),
            plane(x.clone()).avg_pool2d_with([1, 3], [1, 2], [0, 1], true, true, None),
        );
        same(x.clone().adaptive_avg_pool1d(4), plane(x.clone()).adaptive_avg_pool2d([1, 4]));
        same(x.clone().adaptive_max_pool1d(4), plane(x).adaptive_max_pool2d([1, 4]));
    }
}

#[test]
fn nan_wins_and_the_first_of_equals_counts() {
    let x = Tensor::from_slice(&[1.0, 1.0, f32::NAN, 0.0, 1.0, 1.0, 2.0, 3.0], [2, 4], &cpu());
    for (y, at) in
        [x.clone().max_pool2d_with_indices(2, 2, 0, 1, false), x.clone().adaptive_max_pool2d_with_indices([1, 2])]
    {
        assert_eq!(at.to_vec(), [0, 2]);
        let y = y.to_vec();
        assert!(y[0] == 1.0 && y[1].is_nan());
    }
    assert!(
        x.clone().max_pool2d(2).to_vec()[1].is_nan()
            && x.clone().max_pool2d_with(2, 1, 1, 1, false).to_vec()[2].is_nan()
    );
    let (y, back) = x.max_pool2d__vjp(2, Want::ALL);
    let ct = pulled(back, Some(y.ones_like())).0.expect("a cotangent");
    assert_eq!(ct.to_vec(), [1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
}

#[test]
fn what_does_not_fit_is_named() {
    let x = || Tensor::zeros([2, 5, 4], &cpu());
    let check = |f: &dyn Fn() -> Tensor, part: &str| {
        let error = attempt(f).unwrap_err();
        assert!(
            matches!(error, Error::Shape { .. } | Error::Argument { .. }) && error.to_string().contains(part),
            "{error}"
        );
    };
    check(&|| x().max_pool2d(5), "max_pool2d: a window of 5 in steps of 1 does not fit: axis 2 of [2, 5, 4] is 4");
    check(&|| x().max_pool2d(0), "kernel [0, 0]");
    check(&|| x().max_pool2d_with(3, 1, 2, 1, false), "the padding 2 is more than half of the window");
    check(&|| x().avg_pool2d_with(2, 1, 0, false, false, Some(0)), "the divisor is 0");
    check(&|| Tensor::zeros([4], &cpu()).avg_pool2d(1), "[4] has 1 axes, expected at least 2");
    check(&|| Tensor::zeros([2, 0, 4], &cpu()).adaptive_avg_pool2d(1), "axis 1 of [2, 0, 4] is empty");
}

#[test]
fn results_have_the_dtype_of_the_operand() {
    for dtype in DType::FLOATS {
        let x = Tensor::ones([1, 4, 4], &cpu()).to(dtype);
        let (y, at): (Tensor, Tensor<Int>) = x.clone().max_pool2d_with_indices(2, 2, 0, 1, false);
        assert_eq!((y.dtype(), at.dtype(), x.avg_pool2d(2).dtype()), (dtype, DType::I64, dtype));
    }
}
