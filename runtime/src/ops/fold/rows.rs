//! Tensors seen as rows: the axes of an operation moved to the end and merged.

use super::{BLOCK, OP};
use crate::tensor::{Dims, Raw, Strides};

/// `x` with the axes in `mask` moved to the end and merged into one, as a view where the strides allow.
pub(crate) fn to_rows(x: &Raw, mask: u8) -> Raw {
    let (shape, strides) = folded_last(x, mask);
    let kept = shape.len() - mask.count_ones() as usize;
    let moved = Raw { shape: Dims::of(OP, &shape), strides: Strides::of(OP, &strides), ..x.clone() };
    let (mut extent, mut stride) = (1, 1);
    let mut mergeable = true;
    for (&e, &s) in shape[kept..].iter().zip(&strides[kept..]).rev() {
        if e == 1 {
            continue;
        }
        mergeable &= extent == 1 || s == stride * extent as isize;
        if extent == 1 {
            stride = s;
        }
        extent *= e;
    }
    let rows = |strides: &[isize], stride: isize| {
        let shape: Vec<usize> = shape[..kept].iter().copied().chain([extent]).collect();
        let strides: Vec<isize> = strides[..kept].iter().copied().chain([stride]).collect();
        (Dims::of(OP, &shape), Strides::of(OP, &strides))
    };
    let (moved, (shape, strides)) = if mergeable {
        (moved, rows(&strides, stride))
    } else {
        let moved = moved.contiguous();
        let merged = rows(&moved.strides, 1);
        (moved, merged)
    };
    Raw { shape, strides, ..moved }
}

/// The inverse of [`to_rows`] for a contiguous tensor of its result's shape: the axes in `mask` of `shape` taken apart
/// and back in place.
pub(crate) fn from_rows(rows: Raw, mask: u8, shape: &[usize]) -> Raw {
    let order: Vec<usize> = axis_order(shape.len(), mask).collect();
    let mut strides = vec![0; shape.len()];
    let mut step = 1;
    for &axis in order.iter().rev() {
        strides[axis] = step;
        step *= shape[axis].max(1) as isize;
    }
    Raw { shape: Dims::of(OP, shape), strides: Strides::of(OP, &strides), ..rows }
}

/// The elements as rows, in any cut: one row where they are contiguous, else as they lie.
pub(crate) fn any_rows(x: &Raw) -> Raw {
    if x.is_contiguous() { x.clone().reinterpret(&[x.numel()]) } else { x.clone() }
}

/// Two tensors of one shape as rows in the same cut.
pub(crate) fn any_rows_of_both(a: &Raw, b: &Raw) -> (Raw, Raw) {
    let n = a.numel();
    let shape: &[usize] = match a.shape.last() {
        None => &[1],
        Some(_) if !a.is_contiguous() || !b.is_contiguous() => return (a.clone(), b.clone()),
        Some(_) if n > BLOCK && n.is_multiple_of(BLOCK) => &[n / BLOCK, BLOCK],
        Some(&last) if n <= BLOCK || last < 64 => &[n],
        Some(_) => &a.shape,
    };
    (a.clone().reinterpret(shape), b.clone().reinterpret(shape))
}

/// The axes outside `mask`, then those in it.
fn axis_order(rank: usize, mask: u8) -> impl Iterator<Item = usize> {
    (0..rank).filter(move |i| mask >> i & 1 == 0).chain((0..rank).filter(move |i| mask >> i & 1 == 1))
}

fn folded_last(x: &Raw, mask: u8) -> (Vec<usize>, Vec<isize>) {
    axis_order(x.shape.len(), mask).map(|i| (x.shape[i], x.strides[i])).unzip()
}
