//! Triangles and diagonals.

use crate::{check, check_vjp, numbered, shape, strided};
use cotangent_runtime::{Bool, DType, Device, Int, Rng, Tensor};

#[test]
fn triangles() {
    let rng = &mut Rng::seed(31);
    for _ in 0..150 {
        let shape = [&shape(rng)[..], &[rng.below(5), rng.below(5)]].concat();
        let (x, k) = (strided(&shape, rng), rng.below(11) as isize - 5);
        let rank = shape.len();
        let columns = shape[rank - 1];
        let each = |keep: &dyn Fn(isize, isize) -> bool| -> Vec<f32> {
            let place = |i: usize| ((i / columns % shape[rank - 2]) as isize, (i % columns) as isize);
            x.to_vec()
                .into_iter()
                .enumerate()
                .map(|(i, v)| if keep(place(i).0, place(i).1) { v } else { 0.0 })
                .collect()
        };
        assert_eq!(x.clone().tril(k).to_vec(), each(&|r, c| c <= r + k));
        assert_eq!(x.clone().triu(k).to_vec(), each(&|r, c| c >= r + k));
        check_vjp(x.clone(), rng, |x, want| x.tril__vjp(k, want), |(x, ())| x);
        check_vjp(x, rng, |x, want| x.triu__vjp(k, want), |(x, ())| x);
    }
    let device = Device::cpu();
    let ones = Tensor::full([2, 3], true, &device);
    assert_eq!(ones.triu(1).to_vec(), [false, true, true, false, false, true]);
    for dtype in [DType::U8, DType::I32] {
        let y = Tensor::<Int>::arange(4, &device).reshape([2, 2]).to(dtype).tril(0);
        assert_eq!((y.dtype(), y.to_vec()), (dtype, vec![0, 0, 2, 3]));
    }
    assert_eq!(Tensor::<Int>::tril_indices(2, 3, 0, &device).to_vec(), [0, 1, 1, 0, 0, 1]);
    assert_eq!(Tensor::<Int>::triu_indices(2, 3, 1, &device).to_vec(), [0, 0, 1, 1, 2, 2]);
}

#[test]
fn diagonals() {
    let rng = &mut Rng::seed(32);
    for _ in 0..150 {
        let shape = [&shape(rng)[..], &[rng.below(5), rng.below(5)]].concat();
        let (rank, k) = (shape.len(), rng.below(9) as isize - 4);
        let rows = rng.below(rank);
        let columns = (rows + 1 + rng.below(rank - 1)) % rank;
        let x = strided(&shape, rng);
        let (down, right) = ((-k).max(0) as usize, k.max(0) as usize);
        let extent = shape[rows].saturating_sub(down).min(shape[columns].saturating_sub(right));
        let others: Vec<usize> = (0..rank).filter(|a| *a != rows && *a != columns).collect();
        let short: Vec<usize> = others.iter().map(|&a| shape[a]).chain([extent]).collect();
        let from = |index: &[usize]| {
            let mut at = vec![0; rank];
            others.iter().zip(index).for_each(|(&a, &i)| at[a] = i);
            (at[rows], at[columns]) = (index[rank - 2] + down, index[rank - 2] + right);
            at
        };
        let (r, c) = (rows as isize, columns as isize - rank as isize);
        let y = x.clone().diagonal(k, r, c);
        check(&x, &y, &short, from);
        check_vjp(x, rng, |x, want| x.diagonal__vjp(k, r, c, want), |(x, (), (), ())| x);
        let back = y.clone().diag_embed(k, r, c);
        assert_eq!(back.clone().diagonal(k, r, c).to_vec(), y.to_vec());
        let nonzero = |x: &Tensor| x.to_vec().iter().filter(|v| **v != 0.0).count();
        assert_eq!(nonzero(&back), nonzero(&y));
        check_vjp(y, rng, |x, want| x.diag_embed__vjp(k, r, c, want), |(x, (), (), ())| x);
    }
    let x = numbered(&[2, 3]);
    assert_eq!(x.clone().diag(1).to_vec(), [2.0, 6.0]);
    assert_eq!(numbered(&[2]).diag(-1).to_vec(), [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 2.0, 0.0]);
    assert_eq!(x.clone().trace().item(), 6.0);
    for x in [x.clone(), numbered(&[3])] {
        check_vjp(x, rng, |x, want| x.diag__vjp(-1, want), |(x, ())| x);
    }
    check_vjp(x, rng, |x, want| x.trace__vjp(want), |(x,)| x);
    let truths: Tensor<Bool> = Tensor::full([2], true, &Device::cpu());
    assert_eq!(truths.diag(0).to_vec(), [true, false, false, true]);
    assert_eq!(Tensor::<Int>::arange(9, &Device::cpu()).reshape([3, 3]).trace().item(), 12);
}
