//! Entries looked up and put by number, by range and by mask.

use crate::reference::{cpu, index, layouts, pulled, random};
use cotangent_runtime::diff::Want;
use cotangent_runtime::ops::Reduce;
use cotangent_runtime::testing::{GradCheck, check_grad};
use cotangent_runtime::{Bool, DType, Error, Int, Rng, Tensor, attempt};

/// Random positions below `n`, stored in one layout or another.
fn positions(shape: &[usize], n: usize, seed: u64) -> Tensor<Int> {
    let mut rng = Rng::seed(seed);
    let values: Vec<i64> = (0..shape.iter().product()).map(|_| rng.below(n) as i64).collect();
    let index = Tensor::from_slice(&values, shape, &cpu());
    match seed % 3 {
        0 => index,
        1 => index.to([DType::I32, DType::U8][seed as usize / 3 % 2]),
        _ => {
            let order: Vec<usize> = (0..shape.len()).rev().collect();
            index.permute(&order).contiguous().permute(&order)
        }
    }
}

fn flat(at: &[usize], shape: &[usize]) -> usize {
    at.iter().zip(shape).fold(0, |flat, (i, n)| flat * n + i)
}

/// The place in a tensor of `shape` that `at` names along `axis`.
fn target(at: &[usize], axis: usize, (numbers, of): (&[i64], &[usize]), shape: &[usize]) -> usize {
    let mut place = at.to_vec();
    place[axis] = numbers[flat(at, of)] as usize;
    flat(&place, shape)
}

/// Shapes of tensors and of positions, and the axis.
const CASES: &[(&[usize], &[usize], usize)] = &[
    (&[4], &[6], 0),
    (&[3, 4], &[5, 4], 0),
    (&[3, 4], &[3, 7], 1),
    (&[5, 4], &[2, 3], 0),
    (&[2, 3, 4], &[2, 5, 4], 1),
    (&[2, 3, 4], &[1, 3, 9], 2),
    (&[3, 1, 2], &[3, 2, 1], 1),
    (&[2, 3], &[2, 0], 1),
    (&[0, 3], &[0, 2], 1),
    (&[40, 3, 70], &[33, 3, 65], 0),
];

#[test]
fn gathered_entries() {
    for (seed, &(shape, of, axis)) in CASES.iter().enumerate() {
        let index = positions(of, shape[axis].max(1), seed as u64);
        for x in layouts(shape, -1.0, 1.0, seed as u64) {
            let (values, numbers) = (x.to_vec_of::<f64>(), index.to_vec());
            let place = |i| target(&self::index(i, of), axis, (&numbers, of), shape);
            let want: Vec<f64> = (0..numbers.len()).map(|i| values[place(i)]).collect();
            let y = x.clone().gather(axis as isize, index.clone());
            assert_eq!((y.shape(), y.dtype()), (of, x.dtype()));
            assert_eq!(y.to_vec_of::<f64>(), want);
            check_grad(
                |xs| xs[0].clone().gather(axis as isize, index.clone()),
                |xs, ct| {
                    let (_, p) =
                        xs[0].clone().gather__vjp(axis as isize - shape.len() as isize, index.clone(), Want::ALL);
                    vec![pulled(p, Some(ct)).0]
                },
                &[x],
                GradCheck::default(),
            );
        }
    }
}

#[test]
fn other_kinds_and_sizes_move_as_they_are() {
    let device = cpu();
    let at = Tensor::from_slice(&[2i64, 0, 2], [3], &device);
    let ints = Tensor::<Int>::arange(12, &device).reshape([3, 4]);
    for dtype in DType::INTS {
        let y = ints.clone().to(dtype).index_select(0, at.clone());
        assert_eq!((y.dtype(), y.to_vec()), (dtype, vec![8, 9, 10, 11, 0, 1, 2, 3, 8, 9, 10, 11]));
    }
    let truths = ints.clone().gt(5);
    assert_eq!(truths.clone().index_select(1, at.clone()).to_vec()[..6], [false, false, false, true, false, true]);
    let put = truths.scatter(1, Tensor::from_slice(&[0i64, 3], [2, 1], &device), Tensor::full([2, 1], true, &device));
    assert_eq!(put.to_vec()[..8], [true, false, false, false, false, false, true, true]);
    // A NaN keeps its bits, whatever it is stored in.
    let nan = Tensor::from_slice(&[f32::from_bits(0x7fc0_1234), 1.0], [2], &device);
    assert_eq!(nan.index_select(0, Tensor::from_slice(&[0i64], [1], &device)).to_vec()[0].to_bits(), 0x7fc0_1234);
}

#[test]
fn selected_entries() {
    for (seed, (shape, axis, n)) in
        [(&[5][..], 0, 3), (&[4, 3], 0, 6), (&[4, 3], 1, 2), (&[2, 3, 4], 1, 5), (&[2, 0], 0, 3)]
            .into_iter()
            .enumerate()
    {
        let index = positions(&[n], shape[axis], seed as u64);
        for x in layouts(shape, -1.0, 1.0, seed as u64) {
            let y = x.clone().index_select(axis as isize, index.clone());
            let parts: Vec<Tensor> =
                index.to_vec().iter().map(|&i| x.clone().narrow(axis as isize, i as usize, 1)).collect();
            assert_eq!(y.to_vec(), cotangent_runtime::ops::cat(parts, axis as isize).to_vec());
            check_grad(
                |xs| xs[0].clone().index_select(axis as isize, index.clone()),
                |xs, ct| {
                    let (_, p) = xs[0].clone().index_select__vjp(axis as isize, index.clone(), Want::ALL);
                    vec![pulled(p, Some(ct)).0]
                },
                &[x],
                GradCheck::default(),
            );
        }
    }
}

#[test]
fn taken_elements() {
    let x = random(&[3, 4], -1.0, 1.0, 1).t();
    let index = Tensor::from_slice(&[0i64, -1, 5, 5, -12, 3], [2, 3], &cpu());
    let all = x.to_vec();
    let y = x.clone().take(index.clone());
    assert_eq!((y.shape(), y.to_vec()), (&[2, 3][..], vec![all[0], all[11], all[5], all[5], all[0], all[3]]));
    check_grad(
        |xs| xs[0].clone().take(index.clone()),
        |xs, ct| vec![pulled(xs[0].clone().take__vjp(index.clone(), Want::ALL).1, Some(ct)).0],
        &[x],
        GradCheck::default(),
    );
    let (x, index) = (random(&[1, 5, 3], -1.0, 1.0, 2), positions(&[4, 2, 1], 5, 2));
    let want = x.clone().expand([4, 5, 3]).gather(1, index.clone().expand([4, 2, 3]));
    assert_eq!(x.clone().take_along_dim(index.clone(), 1).to_vec(), want.to_vec());
    check_grad(
        |xs| xs[0].clone().take_along_dim(index.clone(), 1),
        |xs, ct| vec![pulled(xs[0].clone().take_along_dim__vjp(index.clone(), 1, Want::ALL).1, Some(ct)).0],
        &[x],
        GradCheck::default(),
    );
}

/// A plain loop over positions, in their order.
fn joined(x: &Tensor, axis: usize, index: &Tensor<Int>, src: &Tensor, join: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    let (mut out, values, numbers) = (x.to_vec_of::<f64>(), src.to_vec_of::<f64>(), index.to_vec());
    for i in 0..numbers.len() {
        let at = self::index(i, index.shape());
        let place = &mut out[target(&at, axis, (&numbers, index.shape()), x.shape())];
        *place = join(*place, values[flat(&at, src.shape())]);
    }
    out
}

#[test]
fn scattered_entries() {
    for (seed, &(shape, of, axis)) in CASES.iter().enumerate() {
        let index = positions(of, shape[axis].max(1), seed as u64);
        // The source may be larger than the positions.
        let larger: Vec<usize> = of.iter().map(|n| n + seed % 2).collect();
        for (x, src) in layouts(shape, -1.0, 1.0, seed as u64).into_iter().zip(layouts(&larger, -1.0, 1.0, 7)) {
            let (x, src, d) = (x.clone(), src.to(x.dtype()), axis as isize);
            let set = x.clone().scatter(d, index.clone(), src.clone());
            assert_eq!(set.to_vec_of::<f64>(), joined(&x, axis, &index, &src, |_, new| new));
            let filled = x.clone().scatter_fill(d, index.clone(), 2.0);
            assert_eq!(filled.to_vec_of::<f64>(), joined(&x, axis, &index, &src, |_, _| 2.0));
            check_grad(
                |xs| xs[0].clone().scatter_fill(d, index.clone(), 2.0),
                |xs, ct| {
                    let (_, p) = xs[0].clone().scatter_fill__vjp(d, index.clone(), 2.0, Want::ALL);
                    vec![pulled(p, Some(ct)).0]
                },
                std::slice::from_ref(&x),
                GradCheck::default(),
            );
            let sum = x.clone().scatter_add(d, index.clone(), src.clone());
            let want = joined(&x, axis, &index, &src, |old, new| old + new);
            crate::reference::close(&sum, &crate::reference::Array { shape: shape.to_vec(), data: want });
            let both = [x, src];
            check_grad(
                |xs| xs[0].clone().scatter(d, index.clone(), xs[1].clone()),
                |xs, ct| {
                    let (_, p) = xs[0].clone().scatter__vjp(d, index.clone(), xs[1].clone(), Want::ALL);
                    let (x, (), (), src) = pulled(p, Some(ct));
                    vec![x, src]
                },
                &both,
                GradCheck::default(),
            );
            check_grad(
                |xs| xs[0].clone().scatter_add(d, index.clone(), xs[1].clone()),
                |xs, ct| {
                    let (_, p) = xs[0].clone().scatter_add__vjp(d, index.clone(), xs[1].clone(), Want::ALL);
                    let (x, (), (), src) = pulled(p, Some(ct));
                    vec![x, src]
                },
                &both,
                GradCheck::default(),
            );
        }
    }
}

#[test]
fn many_rows_are_shared_out() {
    let index = positions(&[3000], 500, 3);
    let (x, src) = (random(&[500, 64], -1.0, 1.0, 1), random(&[3000, 64], -1.0, 1.0, 2));
    let rows = index.clone().unsqueeze(1).expand([3000, 64]);
    let sum = x.clone().index_add(0, index.clone(), src.clone());
    assert_eq!(sum.to_vec(), x.clone().scatter_add(0, rows.clone().contiguous(), src.clone()).to_vec());
    let want = joined(&x, 0, &rows, &src, |old, new| f64::from(old as f32 + new as f32));
    assert_eq!(sum.to_vec_of::<f64>(), want);
    let set = x.clone().index_copy(0, index.clone(), src.clone());
    assert_eq!(set.to_vec_of::<f64>(), joined(&x, 0, &rows, &src, |_, new| new));
    let filled = x.clone().index_fill(0, index.clone(), 2.0);
    let two = Tensor::full([3000, 64], 2.0f32, &cpu());
    assert_eq!(filled.to_vec_of::<f64>(), joined(&x, 0, &rows, &two, |_, new| new));
    let (y, p) = x.clone().index_fill__vjp(0, index, 2.0, Want::ALL);
    assert_eq!(pulled(p, Some(y.clone())).0.unwrap().to_vec(), y.clone().masked_fill(y.eq(2.0), 0.0).to_vec());
}

#[test]
fn reductions_at_places() {
    for (n, reduce) in [Reduce::Sum, Reduce::Prod, Reduce::Mean, Reduce::Amax, Reduce::Amin].into_iter().enumerate() {
        for include_self in [true, false] {
            for (seed, &(shape, of, axis)) in CASES[..8].iter().enumerate() {
                let index = positions(of, shape[axis], seed as u64);
                let x = layouts(shape, 0.5, 1.5, (seed + n) as u64).swap_remove(0);
                let src = random(of, 0.5, 1.5, 9).to(x.dtype());
                let (d, mut groups) = (axis as isize, vec![vec![]; x.numel()]);
                let (numbers, values) = (index.to_vec(), src.to_vec_of::<f64>());
                for i in 0..numbers.len() {
                    groups[target(&self::index(i, of), axis, (&numbers, of), shape)].push(values[i]);
                }
                let all = x.to_vec_of::<f64>();
                let data = groups.iter().zip(&all).map(|(group, &own)| {
                    if group.is_empty() {
                        return own;
                    }
                    let first = include_self.then_some(own);
                    let values: Vec<f64> = first.into_iter().chain(group.iter().copied()).collect();
                    match reduce {
                        Reduce::Sum => values.iter().sum(),
                        Reduce::Prod => values.iter().product(),
                        Reduce::Mean => values.iter().sum::<f64>() / values.len() as f64,
                        Reduce::Amax => values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
                        Reduce::Amin => values.iter().copied().fold(f64::INFINITY, f64::min),
                    }
                });
                let want = crate::reference::Array { shape: shape.to_vec(), data: data.collect() };
                crate::reference::close(
                    &x.clone().scatter_reduce(d, index.clone(), src.clone(), reduce, include_self),
                    &want,
                );
                let exact = [x.clone().double(), src.clone().double()];
                check_grad(
                    |xs| xs[0].clone().scatter_reduce(d, index.clone(), xs[1].clone(), reduce, include_self),
                    |xs, ct| {
                        let (x, src) = (xs[0].clone(), xs[1].clone());
                        let (_, p) = x.scatter_reduce__vjp(d, index.clone(), src, reduce, include_self, Want::ALL);
                        let (x, (), (), src, (), ()) = pulled(p, Some(ct));
                        vec![x, src]
                    },
                    &exact,
                    GradCheck { step: 1e-4, tolerance: Some(1e-5), ..GradCheck::default() },
                );
            }
        }
    }
    let ints = Tensor::from_slice(&[7i64, -7, 5], [3], &cpu());
    let (at, two) = (Tensor::from_slice(&[0i64, 1], [2], &cpu()), Tensor::from_slice(&[2i64, 2], [2], &cpu()));
    let of = |reduce| ints.clone().scatter_reduce(0, at.clone(), two.clone(), reduce, true).to_vec();
    assert_eq!(of(Reduce::Mean), [4, -3, 5]);
    assert_eq!((of(Reduce::Prod), of(Reduce::Amax)), (vec![14, -14, 5], vec![7, 2, 5]));
}

#[test]
fn zeros_in_products() {
    // None, one and two zeros among what is joined.
    let x = Tensor::from_slice(&[2.0f32, 3.0, 0.0, 5.0], [4], &cpu()).double();
    let src = Tensor::from_slice(&[0.0f32, 0.0, 4.0, 0.0, 7.0, 1.5], [6], &cpu()).double();
    let index = Tensor::from_slice(&[0i64, 1, 1, 0, 2, 3], [6], &cpu());
    check_grad(
        |xs| xs[0].clone().scatter_reduce(0, index.clone(), xs[1].clone(), Reduce::Prod, true),
        |xs, ct| {
            let (_, p) =
                xs[0].clone().scatter_reduce__vjp(0, index.clone(), xs[1].clone(), Reduce::Prod, true, Want::ALL);
            let (x, (), (), src, (), ()) = pulled(p, Some(ct));
            vec![x, src]
        },
        &[x, src],
        GradCheck::default(),
    );
}

#[test]
fn elements_put_by_their_number() {
    let x = random(&[3, 4], -1.0, 1.0, 1).t();
    let index = Tensor::from_slice(&[1i64, -1, 1], [3], &cpu());
    let src = Tensor::from_slice(&[10.0f32, 20.0, 30.0], [1, 3], &cpu());
    for accumulate in [false, true] {
        let mut want = x.to_vec();
        let keep = if accumulate { 1.0 } else { 0.0 };
        for (at, v) in [(1, 10.0), (11, 20.0), (1, 30.0)] {
            want[at] = keep * want[at] + v;
        }
        assert_eq!(x.clone().put(index.clone(), src.clone(), accumulate).to_vec(), want);
        check_grad(
            |xs| xs[0].clone().put(index.clone(), xs[1].clone(), accumulate),
            |xs, ct| {
                let (_, p) = xs[0].clone().put__vjp(index.clone(), xs[1].clone(), accumulate, Want::ALL);
                let (x, (), src, ()) = pulled(p, Some(ct));
                vec![x, src]
            },
            &[x.clone(), src.clone()],
            GradCheck::default(),
        );
    }
}

#[test]
fn masks_choose() {
    for (seed, (shape, of)) in
        [(&[3, 4][..], &[3, 4][..]), (&[3, 4], &[4]), (&[4], &[3, 4]), (&[2, 0], &[2, 1]), (&[], &[])]
            .into_iter()
            .enumerate()
    {
        let mask = random(of, -1.0, 1.0, seed as u64).gt(0.0);
        for x in layouts(shape, -1.0, 1.0, seed as u64) {
            let common = crate::reference::broadcast(shape, of);
            let (wide, truths) = (x.clone().expand(&common), mask.clone().expand(&common).to_vec());
            let chosen = |y: &Tensor| -> Vec<f64> {
                y.to_vec_of::<f64>().into_iter().zip(&truths).filter(|(_, t)| **t).map(|(v, _)| v).collect()
            };
            assert_eq!(x.clone().masked_select(mask.clone()).to_vec_of::<f64>(), chosen(&wide));
            check_grad(
                |xs| xs[0].clone().masked_select(mask.clone()),
                |xs, ct| vec![pulled(xs[0].clone().masked_select__vjp(mask.clone(), Want::ALL).1, Some(ct)).0],
                std::slice::from_ref(&x),
                GradCheck::default(),
            );
            if common == shape {
                let src = random(&[5, 4], -1.0, 1.0, 3).to(x.dtype());
                let y = x.clone().masked_scatter(mask.clone(), src.clone());
                let count = chosen(&y).len();
                assert_eq!(chosen(&y), src.to_vec_of::<f64>()[..count]);
                check_grad(
                    |xs| xs[0].clone().masked_scatter(mask.clone(), xs[1].clone()),
                    |xs, ct| {
                        let (_, p) = xs[0].clone().masked_scatter__vjp(mask.clone(), xs[1].clone(), Want::ALL);
                        let (x, (), src) = pulled(p, Some(ct));
                        vec![x, src]
                    },
                    &[x, src],
                    GradCheck::default(),
                );
            }
        }
    }
    let ints = Tensor::<Int>::arange(4, &cpu());
    assert_eq!(ints.clone().masked_fill(ints.clone().gt(1), -1).to_vec(), [0, 1, -1, -1]);
    let truths: Tensor<Bool> = ints.clone().gt(1);
    assert_eq!(truths.clone().masked_fill(ints.eq(0), true).to_vec(), [true, false, true, true]);
}

#[test]
fn classes_become_rows() {
    let classes = Tensor::from_slice(&[2i64, 0], [2], &cpu());
    let y = classes.clone().one_hot(3);
    assert_eq!((y.shape(), y.to_vec()), (&[2, 3][..], vec![0, 0, 1, 1, 0, 0]));
    assert_eq!(classes.slice(cotangent_runtime::s![0]).one_hot(4).to_vec(), [0, 0, 1, 0]);
    assert_eq!(Tensor::from_slice(&[0i64; 0], [2, 0], &cpu()).one_hot(0).shape(), [2, 0, 0]);
}

#[test]
fn errors_name_position_and_place() {
    #[track_caller]
    fn error<T>(f: impl FnOnce() -> T, expected: &str) {
        match attempt(f) {
            Ok(_) => panic!("expected the error `{expected}`"),
            Err(error) => assert_eq!(error.to_string(), expected),
        }
    }
    let x = || random(&[3, 4], 0.0, 1.0, 1);
    let at = |values: &[i64], shape: &[usize]| Tensor::from_slice(values, shape, &cpu());
    error(
        || x().gather(1, at(&[0, 4], &[2, 1])),
        "gather: the index 4 at [1, 0] is out of range: axis 1 of [3, 4] is 4, expected 0 <= index < 4",
    );
    error(
        || x().index_select(0, at(&[0, -1], &[2])),
        "index_select: the index -1 at [1] is out of range: axis 0 of [3, 4] is 3, expected 0 <= index < 3",
    );
    error(
        || x().gather(0, at(&[0], &[1])),
        "gather: the index is [1], but [3, 4] along axis 0 needs one of as many axes, none longer but for that axis",
    );
    error(|| x().index_select(0, at(&[0], &[1, 1])), "index_select: the index is [1, 1], expected a vector");
    error(
        || x().take(at(&[-13], &[1])),
        "take: the index -1 at [0] is out of range: the number of elements of [3, 4] is 12, expected 0 <= index < 12",
    );
    error(
        || x().take_along_dim(at(&[0, 0], &[2, 1]), 1),
        "take_along_dim: the index [2, 1] does not broadcast to [3, 4] but for axis 1",
    );
    error(
        || x().scatter(0, at(&[0], &[1, 1]), Tensor::ones([1], &cpu())),
        "scatter: the source is [1], expected at least the shape [1, 1] of the index",
    );
    error(
        || x().index_add(0, at(&[0], &[1]), Tensor::ones([2, 4], &cpu())),
        "index_add: the source is [2, 4], expected [1, 4]",
    );
    error(
        || x().put(at(&[0], &[1]), Tensor::ones([2], &cpu()), false),
        "put: the source [2] has 2 elements, expected 1 for the index [1]",
    );
    error(
        || x().masked_scatter(Tensor::full([4], true, &cpu()), Tensor::ones([2], &cpu())),
        "masked_scatter: the source [2] has 2 elements, but 12 are true",
    );
    error(
        || random(&[4], 0.0, 1.0, 0).masked_scatter(Tensor::full([3, 4], true, &cpu()), x()),
        "masked_scatter: the mask [3, 4] does not broadcast to the tensor [4]",
    );
    let truths = || Tensor::full([2], true, &cpu());
    assert!(matches!(attempt(|| truths().scatter_add(0, at(&[0], &[1]), truths())), Err(Error::Dtype { .. })));
}
