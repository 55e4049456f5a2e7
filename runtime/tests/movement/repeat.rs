//! Copies beside each other, windows, parts and grids.

use crate::{check, check_vjp, numbered, shape, strided};
use cotangent_runtime::diff::{Pullback, Want};
use cotangent_runtime::ops::{hstack, meshgrid, vstack};
use cotangent_runtime::{Device, Int, Rng, Tensor};

#[test]
fn copies_beside_each_other() {
    let rng = &mut Rng::seed(21);
    for _ in 0..150 {
        let shape = shape(rng);
        let x = strided(&shape, rng);
        let added = rng.below(3);
        let repeats: Vec<usize> = (0..shape.len() + added).map(|_| rng.below(4)).collect();
        let wide: Vec<usize> =
            (0..repeats.len()).map(|a| repeats[a] * if a < added { 1 } else { shape[a - added] }).collect();
        let from = |index: &[usize]| index[added..].iter().zip(&shape).map(|(i, n)| i % n).collect();
        check(&x, &x.clone().repeat(&repeats), &wide, from);
        check_vjp(x.clone(), rng, |x, want| x.repeat__vjp(&repeats, want), |(x, ())| x);
        let last = &repeats[repeats.len().min(added + shape.len() / 2)..];
        let tiled = x.clone().tile(last);
        let full: Vec<usize> =
            (0..shape.len()).map(|a| (a + last.len()).checked_sub(shape.len()).map_or(1, |i| last[i])).collect();
        assert_eq!(tiled.to_vec(), x.clone().repeat(&full).to_vec());
        check_vjp(x.clone(), rng, |x, want| x.tile__vjp(last, want), |(x, ())| x);
        if !shape.is_empty() {
            let (axis, times) = (rng.below(shape.len()), rng.below(4));
            let mut wide = shape.clone();
            wide[axis] *= times;
            let from = |index: &[usize]| {
                let mut index = index.to_vec();
                index[axis] /= times;
                index
            };
            let d = axis as isize;
            check(&x, &x.clone().repeat_interleave(d, times), &wide, from);
            check_vjp(x.clone(), rng, |x, want| x.repeat_interleave__vjp(d, times, want), |(x, (), ())| x);
            let counts = Tensor::<Int>::full([shape[axis]], times as i64, &Device::cpu());
            assert_eq!(
                x.clone().repeat_interleave_each(d, counts.clone()).to_vec(),
                x.clone().repeat_interleave(d, times).to_vec()
            );
            check_vjp(x, rng, |x, want| x.repeat_interleave_each__vjp(d, counts.clone(), want), |(x, (), ())| x);
        }
    }
    let counts = Tensor::from_slice(&[2i64, 0, 1], [3], &Device::cpu());
    assert_eq!(numbered(&[3]).repeat_interleave_each(0, counts).to_vec(), [1.0, 1.0, 3.0]);
}

#[test]
fn windows() {
    let rng = &mut Rng::seed(22);
    for _ in 0..150 {
        let shape = [&shape(rng)[..], &[1 + rng.below(6)]].concat();
        let axis = rng.below(shape.len());
        let x = strided(&shape, rng);
        let (size, step) = (rng.below(shape[axis] + 1), 1 + rng.below(3));
        let mut wide = shape.clone();
        wide[axis] = (shape[axis] - size) / step + 1;
        wide.push(size);
        let from = |index: &[usize]| {
            let (entry, rest) = index.split_last().unwrap();
            let mut index = rest.to_vec();
            index[axis] = index[axis] * step + entry;
            index
        };
        let d = axis as isize;
        check(&x, &x.clone().unfold(d, size, step), &wide, from);
        check_vjp(x, rng, |x, want| x.unfold__vjp(d, size, step, want), |(x, (), (), ())| x);
    }
}

#[test]
fn parts_of_equal_extent() {
    let rng = &mut Rng::seed(23);
    let x = strided(&[3, 7], rng);
    let extents = |parts: Vec<Tensor>| parts.iter().map(|p| p.shape()[1]).collect::<Vec<_>>();
    assert_eq!(extents(x.clone().chunk(3, 1)), [3, 3, 1]);
    assert_eq!(extents(x.clone().chunk(5, 1)), [2, 2, 2, 1]);
    assert_eq!(extents(x.clone().chunk(9, -1)), [1; 7]);
    let rows = x.clone().unbind(0);
    assert_eq!(rows.len(), 3);
    assert_eq!(rows[1].to_vec(), x.clone().select(0, 1).to_vec());
    let (rows, pullback) = x.clone().unbind__vjp(0, Want::ALL);
    let (back, ()) = pullback.pull(rows.into_iter().enumerate().map(|(i, r)| (i != 1).then_some(r)).collect(), &mut ());
    let want = [&x.to_vec()[..7], &[0.0; 7], &x.to_vec()[14..]].concat();
    assert_eq!(back.unwrap().to_vec(), want);
    let (parts, pullback) = x.clone().chunk__vjp(2, 1, Want::ALL);
    let (back, (), ()) = pullback.pull(parts.into_iter().map(Some).collect(), &mut ());
    assert_eq!(back.unwrap().to_vec(), x.to_vec());
}

#[test]
fn tensors_put_together() {
    let (a, b) = (numbered(&[2]), numbered(&[3]));
    assert_eq!(hstack([a.clone(), b.clone()]).to_vec(), [1.0, 2.0, 1.0, 2.0, 3.0]);
    assert_eq!(vstack([a.clone(), a.clone()]).shape(), [2, 2]);
    assert_eq!(hstack([numbered(&[2, 3]), numbered(&[2, 1])]).shape(), [2, 4]);
    assert_eq!(hstack([numbered(&[]), numbered(&[])]).shape(), [2]);
    let (y, pullback) = vstack::vjp([a.clone(), a.clone()], Want::ALL);
    let (back,) = pullback.pull(Some(y), &mut ());
    assert_eq!(back.iter().map(|ct| ct.as_ref().unwrap().to_vec()).collect::<Vec<_>>(), [[1.0, 2.0], [1.0, 2.0]]);
    let (y, pullback) = hstack::vjp([a.clone(), b.clone()], Want::ALL);
    let (back,) = pullback.pull(Some(y), &mut ());
    assert_eq!(back[1].as_ref().unwrap().to_vec(), b.to_vec());
    let grids = meshgrid([a.clone(), b.clone()]);
    assert_eq!(grids[0].to_vec(), [1.0, 1.0, 1.0, 2.0, 2.0, 2.0]);
    assert_eq!(grids[1].to_vec(), [1.0, 2.0, 3.0, 1.0, 2.0, 3.0]);
    let (grids, pullback) = meshgrid::vjp([a, b], Want::ALL);
    let (back,) = pullback.pull(grids.into_iter().map(Some).collect(), &mut ());
    assert_eq!(back[0].as_ref().unwrap().to_vec(), [3.0, 6.0]);
    assert_eq!(back[1].as_ref().unwrap().to_vec(), [2.0, 4.0, 6.0]);
}
