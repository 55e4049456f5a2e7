//! Movement against index arithmetic over random shapes, and its derivatives against the definition: every movement
//! `f` is linear, so its pullback `p` is the one with `<p(ct), dx> = <ct, f(dx)>`.

mod diagonal;
mod errors;
mod order;
mod pad;
mod repeat;
mod slice;

use cotangent_runtime::diff::{Pullback, Want};
use cotangent_runtime::ops::{cat, stack};
use cotangent_runtime::{Bool, DType, Device, Int, Rng, Tensor, attempt};

/// Extents of rank 0 to 4 whose axes may be 1 or empty.
pub(crate) fn shape(rng: &mut Rng) -> Vec<usize> {
    let rank = rng.below(5);
    (0..rank).map(|_| if rng.below(12) == 0 { 0 } else { 1 + rng.below(4) }).collect()
}

/// All index tuples of `shape` in row-major order.
pub(crate) fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
    shape.iter().fold(vec![vec![]], |all, &extent| {
        all.iter().flat_map(|i: &Vec<usize>| (0..extent).map(move |j| [&i[..], &[j]].concat())).collect()
    })
}

pub(crate) fn position(index: &[usize], shape: &[usize]) -> usize {
    index.iter().zip(shape).fold(0, |at, (i, extent)| at * extent + i)
}

pub(crate) fn numbered(shape: &[usize]) -> Tensor {
    let values: Vec<f32> = (0..shape.iter().product::<usize>()).map(|i| i as f32 + 1.0).collect();
    Tensor::from_vec(values, shape, &Device::cpu())
}

/// A tensor of `shape` with random values that is not contiguous as a rule: permuted, or cut out of a larger one.
pub(crate) fn strided(shape: &[usize], rng: &mut Rng) -> Tensor {
    let order = rng.permutation(shape.len());
    let mut stored: Vec<usize> = order.iter().map(|&a| shape[a]).collect();
    let cut = (!shape.is_empty() && rng.below(2) == 0).then(|| rng.below(shape.len()));
    if let Some(axis) = cut {
        stored[axis] += 2;
    }
    let mut x = Tensor::randn(stored.as_slice(), rng, &Device::cpu());
    if let Some(axis) = cut {
        let len = x.shape()[axis] - 2;
        x = x.narrow(axis as isize, 1, len);
    }
    let mut back = vec![0; order.len()];
    order.iter().enumerate().for_each(|(i, &a)| back[a] = i);
    x.permute(back)
}

/// Compares a moved tensor with the elements that `from(index)` names in `x`.
#[track_caller]
pub(crate) fn check(x: &Tensor, moved: &Tensor, shape: &[usize], from: impl Fn(&[usize]) -> Vec<usize>) {
    assert_eq!(moved.shape(), shape);
    let values = x.to_vec();
    let expected: Vec<f32> = indices(shape).iter().map(|i| values[position(&from(i), x.shape())]).collect();
    assert_eq!(moved.to_vec(), expected);
    assert_eq!(moved.clone().contiguous().to_vec(), expected);
}

fn dot(a: &Tensor, b: &Tensor) -> f64 {
    assert_eq!(a.shape(), b.shape());
    a.to_vec().iter().zip(b.to_vec()).map(|(&a, b)| f64::from(a) * f64::from(b)).sum()
}

/// Checks a companion by the definition, and that nothing is given back where nothing is wanted or the cotangent is 0.
#[track_caller]
pub(crate) fn check_vjp<P: Pullback<(), Ct = Option<Tensor>>>(
    x: Tensor,
    rng: &mut Rng,
    companion: impl Fn(Tensor, Want) -> (Tensor, P),
    of_x: impl Fn(P::In) -> Option<Tensor>,
) {
    let dx = strided(x.shape(), rng);
    let (f_dx, _) = companion(dx.clone(), Want::NONE);
    let (y, pullback) = companion(x.clone(), Want::SELF);
    let ct = strided(y.shape(), rng);
    let back = of_x(pullback.pull(Some(ct.clone()), &mut ())).unwrap();
    assert_eq!(back.shape(), x.shape());
    let (left, right) = (dot(&back, &dx), dot(&ct, &f_dx));
    assert!((left - right).abs() <= 1e-4 * (1.0 + right.abs()), "{left} and {right} for {:?}", x.shape());
    assert!(of_x(companion(x.clone(), Want::NONE).1.pull(Some(ct), &mut ())).is_none());
    assert!(of_x(companion(x, Want::ALL).1.pull(None, &mut ())).is_none());
}

#[test]
fn axes_in_another_order() {
    let rng = &mut Rng::seed(1);
    for _ in 0..200 {
        let shape = shape(rng);
        let x = strided(&shape, rng);
        let order = rng.permutation(shape.len());
        let moved: Vec<usize> = order.iter().map(|&a| shape[a]).collect();
        let from = |index: &[usize]| {
            let mut out = vec![0; index.len()];
            index.iter().zip(&order).for_each(|(&i, &a)| out[a] = i);
            out
        };
        check(&x, &x.clone().permute(&order), &moved, from);
        check_vjp(x.clone(), rng, |x, want| x.permute__vjp(&order, want), |(x, ())| x);
        if !shape.is_empty() {
            let rank = shape.len();
            let (a, b) = (rng.below(rank), rng.below(rank));
            let (mut swapped, signed) = (shape.clone(), a as isize - rank as isize);
            swapped.swap(a, b);
            check(&x, &x.clone().transpose(signed, b as isize), &swapped, |i| {
                let mut i = i.to_vec();
                i.swap(a, b);
                i
            });
            check_vjp(x, rng, |x, want| x.transpose__vjp(signed, b as isize, want), |(x, (), ())| x);
        }
    }
    let matrix = numbered(&[2, 3]);
    assert_eq!(matrix.clone().t().to_vec(), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    check_vjp(matrix, rng, |x, want| x.t__vjp(want), |(x,)| x);
    assert_eq!(numbered(&[3]).t().shape(), [3]);
}

#[test]
fn other_shapes_of_the_same_elements() {
    let rng = &mut Rng::seed(2);
    for _ in 0..300 {
        let shape = shape(rng);
        let x = strided(&shape, rng);
        // Factors of the extents, put together anew at random.
        let mut factors: Vec<usize> = shape.iter().flat_map(|&n| if n == 4 { vec![2, 2] } else { vec![n] }).collect();
        rng.shuffle(&mut factors);
        let mut other: Vec<usize> = Vec::new();
        for factor in factors {
            match other.last_mut() {
                Some(last) if rng.below(2) == 0 => *last *= factor,
                _ => other.push(factor),
            }
        }
        let moved = x.clone().reshape(&other);
        assert_eq!(moved.shape(), other);
        assert_eq!(moved.to_vec(), x.to_vec());
        check_vjp(x.clone(), rng, |x, want| x.reshape__vjp(&other, want), |(x, ())| x);

        let start = if shape.is_empty() { 0 } else { rng.below(shape.len()) };
        let flat = x.clone().flatten(start as isize);
        assert_eq!(flat.shape(), [&shape[..start], &[shape[start..].iter().product()]].concat());
        assert_eq!(flat.to_vec(), x.to_vec());
        check_vjp(x.clone(), rng, |x, want| x.flatten__vjp(start as isize, want), |(x, ())| x);

        let at = rng.below(shape.len() + 1);
        let wide = x.clone().unsqueeze(at as isize);
        assert_eq!(wide.shape(), [&shape[..at], &[1], &shape[at..]].concat());
        assert_eq!(wide.to_vec(), x.to_vec());
        assert_eq!(wide.clone().squeeze(at as isize).shape(), shape);
        check_vjp(x.clone(), rng, |x, want| x.unsqueeze__vjp(at as isize, want), |(x, ())| x);
        check_vjp(wide, rng, |x, want| x.squeeze__vjp(at as isize, want), |(x, ())| x);
        check_vjp(x, rng, |x, want| x.contiguous__vjp(want), |(x,)| x);
    }
    let x = numbered(&[2, 3, 4]);
    assert_eq!(x.clone().reshape([-1, 4]).shape(), [6, 4]);
    assert_eq!(x.clone().reshape(-1).shape(), [24]);
    assert_eq!(x.clone().flatten(-2).shape(), [2, 12]);
    assert_eq!(x.unsqueeze(-1).shape(), [2, 3, 4, 1]);
}

#[test]
fn a_reshape_that_strides_allow_is_a_view() {
    let x = numbered(&[4, 6]).narrow(0, 1, 2);
    assert!(x.is_contiguous());
    let columns = numbered(&[2, 3, 4]).transpose(0, 1);
    assert!(!columns.is_contiguous());
    // The last axis splits without a copy and the result is still strided; merging the first two needs one.
    assert!(!columns.clone().reshape([3, 2, 2, 2]).is_contiguous());
    assert!(columns.reshape([6, 4]).is_contiguous());
}

#[test]
fn repeated_values() {
    let rng = &mut Rng::seed(3);
    for _ in 0..200 {
        let shape = shape(rng);
        let x = strided(&shape, rng);
        let lead: Vec<usize> = (0..rng.below(3)).map(|_| rng.below(3)).collect();
        let grown = shape.iter().map(|&n| if n == 1 { rng.below(4) } else { n });
        let wide: Vec<usize> = lead.iter().copied().chain(grown).collect();
        check(&x, &x.clone().expand(&wide), &wide, |index| {
            index[lead.len()..].iter().zip(&shape).map(|(&i, &n)| if n == 1 { 0 } else { i }).collect()
        });
        check_vjp(x, rng, |x, want| x.expand__vjp(&wide, want), |(x, ())| x);
    }
    assert_eq!(numbered(&[3, 1]).expand([2, -1, 4]).shape(), [2, 3, 4]);
}

#[test]
fn parts_and_wholes() {
    let rng = &mut Rng::seed(4);
    for _ in 0..200 {
        let shape = [&shape(rng)[..], &[1 + rng.below(5)]].concat();
        let axis = rng.below(shape.len());
        let at = axis as isize - shape.len() as isize;
        let x = strided(&shape, rng);
        let start = rng.below(shape[axis] + 1);
        let len = rng.below(shape[axis] - start + 1);
        let mut part = shape.clone();
        part[axis] = len;
        check(&x, &x.clone().narrow(at, start, len), &part, |index| {
            let mut index = index.to_vec();
            index[axis] += start;
            index
        });
        check_vjp(x.clone(), rng, |x, want| x.narrow__vjp(at, start, len, want), |(x, (), (), ())| x);

        let extents = vec![start, len, shape[axis] - start - len];
        let parts = x.clone().split(at, &extents);
        assert_eq!(cat(&parts, at).to_vec(), x.to_vec());
        // Splitting is linear with one cotangent for each part, of which any may be zero.
        let (_, pullback) = x.clone().split__vjp(at, &extents, Want::SELF);
        let dx = strided(&shape, rng);
        let d_parts = dx.clone().split(at, &extents);
        let cts: Vec<Option<Tensor>> =
            d_parts.iter().map(|p| (rng.below(3) > 0).then(|| strided(p.shape(), rng))).collect();
        let right: f64 = cts.iter().zip(&d_parts).filter_map(|(ct, d)| Some(dot(ct.as_ref()?, d))).sum();
        let any = cts.iter().any(Option::is_some);
        let (back, (), ()) = pullback.pull(cts, &mut ());
        assert_eq!(back.is_some(), any);
        if let Some(back) = back {
            assert!((dot(&back, &dx) - right).abs() < 1e-4);
        }

        let ct = strided(&shape, rng);
        let (whole, pullback) = cat::vjp(parts.clone(), at, Want::ALL);
        assert_eq!(whole.shape(), shape);
        let (backs, ()) = pullback.pull(Some(ct.clone()), &mut ());
        for (back, part) in backs.iter().zip(ct.split(at, &extents)) {
            assert_eq!(back.as_ref().unwrap().to_vec(), part.to_vec());
        }
        let (backs, ()) = cat::vjp(parts, at, Want::NONE).1.pull(Some(whole), &mut ());
        assert!(backs.len() == 3 && backs.iter().all(Option::is_none));
    }
}

#[test]
fn entries_of_a_new_axis() {
    let rng = &mut Rng::seed(5);
    for _ in 0..200 {
        let shape = shape(rng);
        let count = 1 + rng.below(3);
        let axis = rng.below(shape.len() + 1);
        let tensors: Vec<Tensor> = (0..count).map(|_| strided(&shape, rng)).collect();
        let (whole, pullback) = stack::vjp(tensors.clone(), axis as isize, Want::ALL);
        assert_eq!(whole.shape(), [&shape[..axis], &[count], &shape[axis..]].concat());
        let (backs, ()) = pullback.pull(Some(whole.clone()), &mut ());
        for (i, (tensor, back)) in tensors.iter().zip(backs).enumerate() {
            let entry = whole.clone().narrow(axis as isize, i, 1).squeeze(axis as isize);
            assert_eq!(entry.to_vec(), tensor.to_vec());
            assert_eq!(back.unwrap().to_vec(), tensor.to_vec());
        }
    }
}

#[test]
fn tuples_of_parts_and_other_kinds() {
    let (a, b) = numbered(&[2, 5]).split(1, [2, 3]);
    assert_eq!((a.to_vec(), b.to_vec()), (vec![1.0, 2.0, 6.0, 7.0], vec![3.0, 4.0, 5.0, 8.0, 9.0, 10.0]));
    let ((_, _, c), pullback) = numbered(&[6]).split__vjp(0, [1, 2, 3], Want::SELF);
    let (back, (), ()) = pullback.pull((None, None, Some(c)), &mut ());
    assert_eq!(back.unwrap().to_vec(), [0.0, 0.0, 0.0, 4.0, 5.0, 6.0]);

    let ints = Tensor::<Int>::arange(6, &Device::cpu()).reshape([2, 3]);
    assert_eq!(ints.clone().t().to_vec(), [0, 3, 1, 4, 2, 5]);
    let (y, pullback) = ints.clone().narrow__vjp(1, 1, 2, Want::ALL);
    assert_eq!(y.to_vec(), [1, 2, 4, 5]);
    let ((), (), (), ()) = pullback.pull((), &mut ());
    assert_eq!(cat([ints.clone(), ints], 0).shape(), [4, 3]);
    // Of several dtypes the widest.
    let small = Tensor::<Int>::arange(2, &Device::cpu()).to(DType::U8);
    let both = cat([small.clone(), small.to(DType::I32)], 0);
    assert_eq!((both.dtype(), both.to_vec()), (DType::I32, vec![0, 1, 0, 1]));
    let (both, pullback) = cat::vjp([numbered(&[2]).half(), numbered(&[1])], 0, Want::ALL);
    let (backs, ()) = pullback.pull(Some(both.clone()), &mut ());
    assert_eq!((both.dtype(), backs[0].as_ref().map(Tensor::dtype)), (DType::F32, Some(DType::F16)));
    let flags = Tensor::<Bool>::from_slice(&[true, false], [2, 1], &Device::cpu());
    assert_eq!(
        stack([flags.clone(), flags], -1).expand([2, 2, 2]).to_vec(),
        [true, true, true, true, false, false, false, false]
    );
}

#[test]
fn errors_name_operation_axis_and_shapes() {
    #[track_caller]
    fn error<T>(f: impl FnOnce() -> T, expected: &str) {
        match attempt(f) {
            Ok(_) => panic!("expected the error `{expected}`"),
            Err(error) => assert_eq!(error.to_string(), expected),
        }
    }
    let x = || numbered(&[2, 3]);
    error(|| x().reshape([4, 2]), "reshape: [2, 3] has 6 elements, which do not fill [4, 2]");
    error(|| x().reshape([-1, 4]), "reshape: [2, 3] has 6 elements, which do not fill [-1, 4]");
    error(
        || x().reshape([-1, -1]),
        "reshape: axis 1 of [-1, -1] is -1, expected an extent of at least 0 or a single -1",
    );
    error(|| x().reshape([1; 9]), "reshape: 9 axes, but a tensor has at most 8");
    error(|| numbered(&[0]).reshape([-1, 0]), "reshape: [0] has 0 elements, which do not fill [-1, 0]");
    error(|| x().flatten(2), "flatten: axis 2 was given, but [2, 3] has the axes -2 to 1");
    error(|| numbered(&[]).transpose(0, 0), "transpose: axis 0 was given, but a scalar has no axes");
    error(|| numbered(&[2, 3, 4]).t(), "t: [2, 3, 4] has 3 axes, expected at most 2; use `transpose`");
    error(|| x().permute([0]), "permute: [0] names 1 of the 2 axes of [2, 3]");
    error(|| x().permute([0, -2]), "permute: axis 0 of [2, 3] is named twice in [0, -2]");
    error(|| x().squeeze(1), "squeeze: axis 1 of [2, 3] is 3, expected 1");
    error(|| x().unsqueeze(3), "unsqueeze: axis 3 was given, but [2, 3] has room at the axes -3 to 2");
    error(|| x().expand([3, 3]), "expand: [2, 3] does not expand to [3, 3]: axis 0 is 2, expected 1 or 3");
    error(|| x().expand([3]), "expand: [2, 3] has 2 axes, more than [3] with 1");
    error(
        || x().expand([-1, 2, 3]),
        "expand: axis 0 of [-1, 2, 3] is -1, expected an extent of at least 0, or -1 for an axis of [2, 3]",
    );
    error(|| x().narrow(1, 2, 2), "narrow: 2 entries from 2 on were asked for, but axis 1 of [2, 3] is 3");
    error(
        || x().narrow(1, usize::MAX, 2),
        "narrow: 2 entries from 18446744073709551615 on were asked for, but axis 1 of [2, 3] is 3",
    );
    error(|| x().split(1, [1, 1]), "split: axis 1 of [2, 3] is 3, but the parts [1, 1] do not add up to that");
    error(
        || cat([x(), numbered(&[3, 2])], 0),
        "cat: tensor 1 is [3, 2] and tensor 0 is [2, 3], expected equal extents but for axis 0",
    );
    error(|| cat(Vec::<Tensor>::new(), 0), "cat: no tensor was given, expected at least one");
    error(|| stack([x(), numbered(&[3])], 0), "stack: tensor 1 is [3] and tensor 0 is [2, 3], expected equal shapes");
    error(|| stack([x()], 3), "stack: axis 3 was given, but tensors of [2, 3] stack along the axes -3 to 2");
}
