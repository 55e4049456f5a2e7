//! Entries and axes in another order.

use crate::{check, check_vjp, shape, strided};
use cotangent_runtime::{Rng, Tensor};

#[test]
fn entries_backwards_and_moved_on() {
    let rng = &mut Rng::seed(11);
    for _ in 0..150 {
        let shape = [&shape(rng)[..], &[rng.below(4)]].concat();
        let x = strided(&shape, rng);
        let axes: Vec<usize> = (0..shape.len()).filter(|_| rng.below(2) == 0).collect();
        let back = |index: &[usize]| {
            let mut index = index.to_vec();
            axes.iter().for_each(|&a| index[a] = shape[a] - 1 - index[a]);
            index
        };
        check(&x, &x.clone().flip(&axes), &shape, back);
        check_vjp(x.clone(), rng, |x, want| x.flip__vjp(&axes, want), |(x, ())| x);

        let by: Vec<i64> = axes.iter().map(|_| rng.below(11) as i64 - 5).collect();
        let on = |index: &[usize]| {
            let mut index = index.to_vec();
            for (&a, &by) in axes.iter().zip(&by) {
                index[a] = (index[a] as i64 - by).rem_euclid(shape[a] as i64) as usize;
            }
            index
        };
        check(&x, &x.clone().roll(&by, &axes), &shape, on);
        check_vjp(x, rng, |x, want| x.roll__vjp(&by, &axes, want), |(x, (), ())| x);
    }
}

#[test]
fn backward_views_are_operands_like_others() {
    let rng = &mut Rng::seed(12);
    let (a, b) = (strided(&[5, 7], rng), strided(&[7, 4], rng));
    let copy = |x: &Tensor| x.clone().contiguous();
    let (turned, across) = (a.clone().flip([0, 1]), b.clone().flip(0));
    assert_eq!(turned.clone().matmul(across.clone()).to_vec(), copy(&turned).matmul(copy(&across)).to_vec());
    assert_eq!(turned.clone().sum(0).to_vec(), copy(&turned).sum(0).to_vec());
    assert_eq!(turned.clone().softmax(1).to_vec(), copy(&turned).softmax(1).to_vec());
    assert_eq!(turned.clone().reshape([35]).to_vec(), copy(&turned).to_vec());
    assert_eq!((turned.clone() + copy(&turned)).to_vec(), (copy(&turned) + copy(&turned)).to_vec());
    assert_eq!(turned.clone().flip([0, 1]).to_vec(), a.to_vec());
}

#[test]
fn axes_moved_and_planes_turned() {
    let rng = &mut Rng::seed(13);
    for _ in 0..100 {
        let shape = [&shape(rng)[..], &[2]].concat();
        let (x, rank) = (strided(&shape, rng), shape.len());
        let (from, to) = (rng.below(rank), rng.below(rank));
        let mut order: Vec<usize> = (0..rank).filter(|&a| a != from).collect();
        order.insert(to, from);
        assert_eq!(x.clone().movedim(from, to).to_vec(), x.clone().permute(&order).to_vec());
        check_vjp(x.clone(), rng, |x, want| x.movedim__vjp(from, to, want), |(x, (), ())| x);
        if rank > 1 {
            let plane = [from as isize, ((from + 1) % rank) as isize];
            for quarters in -4..5isize {
                // One quarter at a time.
                let once = |x: Tensor| x.flip(plane[1]).transpose(plane[0], plane[1]);
                let want = (0..quarters.rem_euclid(4)).fold(x.clone(), |x, _| once(x));
                let y = x.clone().rot90(quarters, plane);
                assert_eq!((y.shape(), y.to_vec()), (want.shape(), want.to_vec()));
            }
            check_vjp(x, rng, |x, want| x.rot90__vjp(3, plane, want), |(x, (), ())| x);
        }
    }
    let x = strided(&[2, 3, 4], rng);
    assert_eq!(x.clone().movedim([0, 1], [-1, 0]).shape(), [3, 4, 2]);
    assert_eq!(x.clone().swapaxes(0, -1).to_vec(), x.clone().transpose(0, 2).to_vec());
    assert_eq!(x.clone().swapdims(1, 2).shape(), [2, 4, 3]);
}
