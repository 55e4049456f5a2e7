//! Entries of an axis looked up by number.

use super::along::pick;
use crate::diff::Want;
use crate::ops::indices;
use crate::ops::movement::{Moved, Undo};
use crate::raise::raise;
use crate::tensor::{Dims, Int, Kind, Raw, Tensor, axis_of, launch, try_broadcast};
use cotangent_hal::{Arg, Error, Scalar, kernel};

kernel! {
    /// Negative positions counted from the end.
    static FROM_END = Pointwise "take" (x: Each I64; n) -> (y: Each I64) |tile| {
        let n = n.i64();
        for i in 0..tile.1 {
            y[i] = if x[i] < 0 { x[i].wrapping_add(n) } else { x[i] };
        }
    }
}

impl<K: Kind> Tensor<K> {
    /// `y[.., i, ..] = x[.., index[.., i, ..], ..]`: for every place of `index` the entry of `axis` that it names. The
    /// result has the shape of `index`. Positions that are named repeatedly add up their cotangents, in the order of
    /// `index`.
    ///
    /// Raises `Error::Shape` where `index` has another number of axes, or is longer than `self` along another axis;
    /// `Error::Argument` where a position is not in the axis, with its place.
    #[track_caller]
    pub fn gather(self, axis: isize, index: Tensor<Int>) -> Self {
        let axis = aligned("gather", &self.raw, axis, &index.raw);
        Tensor::from_raw(pick(&self.raw, axis, &index.raw))
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn gather__vjp(self, axis: isize, index: Tensor<Int>, want: Want) -> (Self, Moved<K, 2>) {
        let axis = aligned("gather", &self.raw, axis, &index.raw);
        picked(self, axis, index.raw, want)
    }

    /// The entries of `axis` with the numbers `index`, a vector, in its order: `[A, N, B]` with `[M]` numbers of axis 1 is
    /// `[A, M, B]`. Entries that are named repeatedly add up their cotangents.
    ///
    /// Raises `Error::Shape` where `index` is no vector, `Error::Argument` where a number is not in the axis.
    #[track_caller]
    pub fn index_select(self, axis: isize, index: Tensor<Int>) -> Self {
        let (axis, index) = entries("index_select", &self.raw, axis, &index.raw);
        Tensor::from_raw(pick(&self.raw, axis, &index))
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn index_select__vjp(self, axis: isize, index: Tensor<Int>, want: Want) -> (Self, Moved<K, 2>) {
        let (axis, index) = entries("index_select", &self.raw, axis, &index.raw);
        picked(self, axis, index, want)
    }

    /// The elements at positions in row-major order, counted from the end where negative: a tensor of the shape of
    /// `index`.
    ///
    /// Raises `Error::Argument` where there is no such element.
    #[track_caller]
    pub fn take(self, index: Tensor<Int>) -> Self {
        taken(self, &index.raw).0
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn take__vjp(self, index: Tensor<Int>, want: Want) -> (Self, Moved<K, 1>) {
        let shape = self.raw.shape;
        let flat = Dims::of("take", &[self.numel()]);
        let (y, index) = taken(self, &index.raw);
        let undo = || {
            let row = Undo::Shape(index.shape);
            row.then(Undo::Put { shape: flat, axis: 0, index: index.keep() }).then(Undo::Shape(shape))
        };
        (y, Moved::with(want, undo))
    }

    /// As [`gather`](Self::gather) where `index` and `self` are first broadcast to each other along the other axes.
    #[track_caller]
    pub fn take_along_dim(self, index: Tensor<Int>, axis: isize) -> Self {
        let (axis, x, index) = broadcast_along(&self.raw, &index.raw, axis);
        Tensor::from_raw(pick(&x, axis, &index))
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn take_along_dim__vjp(self, index: Tensor<Int>, axis: isize, want: Want) -> (Self, Moved<K, 2>) {
        let (axis, x, index) = broadcast_along(&self.raw, &index.raw, axis);
        let (own, shape) = (self.raw.shape, x.shape);
        let y = Tensor::from_raw(pick(&x, axis, &index));
        (y, Moved::with(want, || Undo::Put { shape, axis, index: index.keep() }.then(Undo::Sum(own))))
    }
}

#[track_caller]
fn picked<K: Kind>(x: Tensor<K>, axis: usize, index: Raw, want: Want) -> (Tensor<K>, Moved<K, 2>) {
    let y = Tensor::from_raw(pick(&x.raw, axis, &index));
    (y, Moved::with(want, || Undo::Put { shape: x.raw.shape, axis, index: index.keep() }))
}

/// The axis of positions that are as many axes as those of `x`, none longer but for the axis.
#[track_caller]
pub(super) fn aligned(op: &str, x: &Raw, axis: isize, index: &Raw) -> usize {
    let axis = axis_of(op, axis, &x.shape);
    x.same_device(op, index);
    let fits = index.shape.len() == x.shape.len()
        && index.shape.iter().zip(&*x.shape).enumerate().all(|(a, (i, n))| a == axis || i <= n);
    if !fits {
        let message = format!(
            "the index is {:?}, but {:?} along axis {axis} needs one of as many axes, none longer but for that axis",
            index.shape, x.shape
        );
        raise(Error::Shape { op: op.into(), message });
    }
    inside(op, x, axis, index);
    axis
}

/// Raises where a position is not in the axis.
#[track_caller]
fn inside(op: &str, x: &Raw, axis: usize, index: &Raw) {
    indices::check(op, index, x.shape[axis], "index", &format!("axis {axis} of {:?}", x.shape));
}

/// The axis, and the numbers of its entries for every place along the other axes of `x`.
#[track_caller]
pub(super) fn entries(op: &str, x: &Raw, axis: isize, index: &Raw) -> (usize, Raw) {
    let axis = axis_of(op, axis, &x.shape);
    x.same_device(op, index);
    if index.shape.len() > 1 {
        let message = format!("the index is {:?}, expected a vector", index.shape);
        raise(Error::Shape { op: op.into(), message });
    }
    inside(op, x, axis, index);
    let mut column = Dims::repeat(op, 1, x.shape.len());
    column[axis] = index.numel();
    let mut shape = x.shape;
    shape[axis] = index.numel();
    (axis, index.clone().reshape(&column).expand_to(op, &shape))
}

/// Positions in row-major order, counted from 0.
#[track_caller]
pub(super) fn flat_positions(op: &str, x: &Raw, index: &Raw) -> Raw {
    x.same_device(op, index);
    let n = x.numel();
    let from_start = Raw::empty(&index.device, index.dtype.compute(), &index.shape);
    if index.numel() > 0 {
        let args = [Arg::In(index.view()), Arg::Out(from_start.view()), Arg::Scalar(Scalar::Int(n as i64))];
        launch(&index.device, &FROM_END, &index.shape, &args);
    }
    let of = format!("the number of elements of {:?}", x.shape);
    indices::check(op, &from_start, n, "index", &of);
    from_start
}

#[track_caller]
fn taken<K: Kind>(x: Tensor<K>, index: &Raw) -> (Tensor<K>, Raw) {
    let index = flat_positions("take", &x.raw, index);
    let shape = index.shape;
    let whole = Dims::of("take", &[x.numel()]);
    let index = index.reinterpret(&[shape.numel()]);
    (Tensor::from_raw(pick(&x.raw.reshape(&whole), 0, &index).reinterpret(&shape)), index)
}

#[track_caller]
fn broadcast_along(x: &Raw, index: &Raw, axis: isize) -> (usize, Raw, Raw) {
    let op = "take_along_dim";
    let axis = axis_of(op, axis, &x.shape);
    let (mut a, mut b) = (x.shape, index.shape);
    let common = if a.len() == b.len() {
        (a[axis], b[axis]) = (1, 1);
        try_broadcast(&a, &b).ok()
    } else {
        None
    };
    let Some(mut common) = common else {
        let message = format!("the index {:?} does not broadcast to {:?} but for axis {axis}", index.shape, x.shape);
        raise(Error::Shape { op: op.into(), message })
    };
    common[axis] = x.shape[axis];
    let x = x.expand_to(op, &common);
    common[axis] = index.shape[axis];
    let index = index.expand_to(op, &common);
    (aligned(op, &x, axis as isize, &index), x, index)
}
