//! Slices: ranges, steps, numbers and new axes.

use crate::{check, check_vjp, numbered, shape, strided};
use cotangent_runtime::diff::{Pullback, Want};
use cotangent_runtime::ops::{ELLIPSIS, Entry, NEW};
use cotangent_runtime::testing::{GradCheck, check_grad};
use cotangent_runtime::{Device, Int, Rng, Tensor, s};

/// What an entry names of an axis of `n`: Python's `range(*slice(..).indices(n))`, one after another.
fn named(n: usize, entry: Entry) -> Vec<usize> {
    let Entry::Range { start, end, step } = entry else { panic!("a range") };
    let n = n as isize;
    let bound = |b: isize| if b < 0 { b + n } else { b };
    let mut at = start.map(bound).unwrap_or(if step > 0 { 0 } else { n - 1 });
    at = if step > 0 { at.max(0) } else { at.min(n - 1) };
    let end = end.map(bound);
    let mut out = vec![];
    while (0..n).contains(&at) && end.is_none_or(|end| if step > 0 { at < end } else { at > end }) {
        out.push(at as usize);
        at += step;
    }
    out
}

#[test]
fn any_ranges() {
    let rng = &mut Rng::seed(41);
    for _ in 0..300 {
        let shape = shape(rng);
        let x = strided(&shape, rng);
        let (mut entries, mut places, mut wide) = (vec![], vec![], vec![]);
        for &n in &shape {
            if rng.below(6) == 0 {
                entries.push(NEW);
                wide.push(1);
            }
            if n > 0 && rng.below(4) == 0 {
                let at = rng.below(n);
                entries.push(Entry::At(at as isize - if rng.below(2) == 0 { 0 } else { n as isize }));
                places.push((vec![at], None));
                continue;
            }
            let mut bound = || (rng.below(3) > 0).then(|| rng.below(13) as isize - 6);
            let (start, end) = (bound(), bound());
            let step = [1, 1, 2, 3, -1, -2][rng.below(6)];
            let entry = Entry::Range { start, end, step };
            let all = named(n, entry);
            places.push((all.clone(), Some(wide.len())));
            wide.push(all.len());
            entries.push(entry);
        }
        let from = |index: &[usize]| places.iter().map(|(all, axis)| all[axis.map_or(0, |a| index[a])]).collect();
        let y = x.clone().slice(&entries);
        check(&x, &y, &wide, from);
        check_vjp(x.clone(), rng, |x, want| x.slice__vjp(&entries, want), |(x, ())| x);
        // What was assigned is there, and all else as it was.
        let src = strided(&wide, rng);
        let assigned = x.clone().slice_assign(&entries, src.clone());
        assert_eq!(assigned.clone().slice(&entries).to_vec(), src.to_vec());
        assert_eq!(assigned.clone().slice_assign(&entries, y).to_vec(), x.to_vec());
        assert_eq!(
            x.clone().slice_fill(&entries, 0.0).to_vec(),
            x.clone().slice_assign(&entries, src.zeros_like()).to_vec()
        );
        check_vjp(x.clone(), rng, |x, want| x.slice_fill__vjp(&entries, 0.0, want), |(x, (), ())| x);
        check_grad(
            |xs| xs[0].clone().slice_assign(&entries, xs[1].clone()),
            |xs, ct| {
                let (_, p) = xs[0].clone().slice_assign__vjp(&entries, xs[1].clone(), Want::ALL);
                let (x, (), src) = p.pull(Some(ct), &mut ());
                vec![x, src]
            },
            &[x, src],
            GradCheck { most: 4, ..GradCheck::default() },
        );
    }
}

#[test]
fn written_as_in_numpy() {
    let x = numbered(&[4, 5, 6]);
    let n = 2;
    assert_eq!(x.clone().slice(s![1.., ..-1, ..;2]).shape(), [3, 4, 3]);
    assert_eq!(x.clone().slice(s![-1]).shape(), [5, 6]);
    assert_eq!(x.clone().slice(s![n, .., n..=3]).shape(), [5, 2]);
    assert_eq!(x.clone().slice(s![ELLIPSIS, 0]).to_vec(), x.clone().select(2, 0).to_vec());
    assert_eq!(x.clone().slice(s![NEW, ELLIPSIS, NEW, -3..-1]).shape(), [1, 4, 5, 1, 2]);
    assert_eq!(x.clone().slice(s![3..1]).shape(), [0, 5, 6]);
    assert_eq!(x.clone().slice(s![..;-1, 0, 0]).to_vec(), [91.0, 61.0, 31.0, 1.0]);
    assert_eq!(x.clone().slice(s![]).to_vec(), x.to_vec());
    let one = Tensor::scalar(9.0f32, &Device::cpu());
    assert_eq!(x.slice_assign(s![.., 1.., 2], one).slice(s![0, 1, ..]).to_vec()[..3], [7.0, 8.0, 9.0]);
    let ints = Tensor::<Int>::arange(5, &Device::cpu());
    assert_eq!(ints.clone().slice(s![..;-2]).to_vec(), [4, 2, 0]);
    assert_eq!(ints.slice_fill(s![1..3], 7).to_vec(), [0, 7, 7, 3, 4]);
}

#[test]
fn one_entry() {
    let rng = &mut Rng::seed(42);
    let x = strided(&[3, 4, 2], rng);
    for (axis, at) in [(0, 1), (1, -1), (-1, 0)] {
        let y = x.clone().select(axis, at);
        let start = at.rem_euclid(x.size(axis) as isize) as usize;
        assert_eq!(y.to_vec(), x.clone().narrow(axis, start, 1).squeeze(axis).to_vec());
        check_vjp(x.clone(), rng, |x, want| x.select__vjp(axis, at, want), |(x, (), ())| x);
    }
}
