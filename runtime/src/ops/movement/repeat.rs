//! Repeated elements: copies of a tensor beside each other, and windows that overlap.

use super::undo::{Moved, Undo};
use crate::diff::Want;
use crate::ops::arith::add;
use crate::ops::elementwise::run;
use crate::ops::{fold, indices};
use crate::raise::raise;
use crate::tensor::{Dims, Int, IntoShape, Kind, Raw, Tensor, axis_of};
use cotangent_hal::{Error, Scalar};

impl<K: Kind> Tensor<K> {
    /// So many copies of the tensor beside each other along each axis, new axes in front: `[A, B]` repeated `[2, 3]` times
    /// is `[2 A, 3 B]`. The cotangents of all copies add up.
    ///
    /// Raises `Error::Shape` where there are fewer numbers than axes.
    #[track_caller]
    pub fn repeat<S: IntoShape>(self, repeats: S) -> Self {
        let repeats = repeats.into_shape().all("repeat");
        Tensor::from_raw(repeated("repeat", self.raw, &repeats))
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn repeat__vjp<S: IntoShape>(self, repeats: S, want: Want) -> (Self, Moved<K, 1>) {
        let repeats = repeats.into_shape().all("repeat");
        let shape = self.raw.shape;
        let y = Tensor::from_raw(repeated("repeat", self.raw, &repeats));
        (y, Moved::with(want, || unrepeated(shape, &repeats)))
    }

    /// As [`repeat`](Self::repeat), where fewer numbers than axes count from the last axis.
    #[track_caller]
    pub fn tile<S: IntoShape>(self, repeats: S) -> Self {
        let repeats = all_axes(&self.raw, repeats);
        Tensor::from_raw(repeated("tile", self.raw, &repeats))
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn tile__vjp<S: IntoShape>(self, repeats: S, want: Want) -> (Self, Moved<K, 1>) {
        let repeats = all_axes(&self.raw, repeats);
        let shape = self.raw.shape;
        let y = Tensor::from_raw(repeated("tile", self.raw, &repeats));
        (y, Moved::with(want, || unrepeated(shape, &repeats)))
    }

    /// Each entry of an axis so many times, one behind the other: `[a, b]` twice is `[a, a, b, b]`.
    #[track_caller]
    pub fn repeat_interleave(self, axis: isize, repeats: usize) -> Self {
        let axis = axis_of("repeat_interleave", axis, &self.raw.shape);
        Tensor::from_raw(interleaved(self.raw, axis, repeats))
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn repeat_interleave__vjp(self, axis: isize, repeats: usize, want: Want) -> (Self, Moved<K, 2>) {
        let axis = axis_of("repeat_interleave", axis, &self.raw.shape);
        let mut apart = self.raw.shape;
        let y = interleaved(self.raw, axis, repeats);
        let undo = || {
            let shape = apart;
            apart.insert("repeat_interleave", axis + 1, repeats);
            // An axis that is not repeated needs no room for copies.
            if repeats == 1 { Undo::Shape(shape) } else { Undo::Shape(apart).then(Undo::Fold(axis + 1)) }
        };
        (Tensor::from_raw(y), Moved::with(want, undo))
    }

    /// Entry `i` of an axis `counts[i]` times, one behind the other.
    ///
    /// Raises `Error::Shape` where `counts` is not a vector of as many numbers as the axis has entries, `Error::Argument`
    /// where one is negative.
    #[track_caller]
    pub fn repeat_interleave_each(self, axis: isize, counts: Tensor<Int>) -> Self {
        let index = numbers(&self.raw, axis, &counts);
        self.index_select(axis, index)
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn repeat_interleave_each__vjp(self, axis: isize, counts: Tensor<Int>, want: Want) -> (Self, Moved<K, 2>) {
        let index = numbers(&self.raw, axis, &counts);
        self.index_select__vjp(axis, index, want)
    }

    /// Windows of `size` entries of an axis, each `step` entries behind the one before, as a view with the entries of a
    /// window in a new last axis: `[A, N, B]` gives `[A, W, B, size]`, `W = (N - size) / step + 1`.
    ///
    /// Raises `Error::Argument` where a window is longer than the axis, or `step` is 0.
    #[track_caller]
    pub fn unfold(self, axis: isize, size: usize, step: usize) -> Self {
        let axis = axis_of("unfold", axis, &self.raw.shape);
        Tensor::from_raw(windows(self.raw, axis, size, step))
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn unfold__vjp(self, axis: isize, size: usize, step: usize, want: Want) -> (Self, Moved<K, 3>) {
        let axis = axis_of("unfold", axis, &self.raw.shape);
        let shape = self.raw.shape;
        let y = Tensor::from_raw(windows(self.raw, axis, size, step));
        (y, Moved::new(want, Undo::Unfold { shape, axis, step }))
    }
}

/// One number for each axis, 1 for those in front that none was given for.
#[track_caller]
fn all_axes(x: &Raw, repeats: impl IntoShape) -> Dims {
    let mut repeats = repeats.into_shape().all("tile");
    while repeats.len() < x.shape.len() {
        repeats.insert("tile", 0, 1);
    }
    repeats
}

#[track_caller]
fn repeated(op: &str, mut x: Raw, repeats: &Dims) -> Raw {
    if repeats.len() < x.shape.len() {
        let message = format!("{repeats:?} are {} numbers for the axes of {:?}", repeats.len(), x.shape);
        raise(Error::Shape { op: op.into(), message });
    }
    while x.shape.len() < repeats.len() {
        x = x.insert_axis(op, 0);
    }
    for (axis, &times) in repeats.iter().enumerate().rev().filter(|(_, times)| **times != 1) {
        // Seen as three axes, so that there is room for the copies.
        let [outer, inner] = [&x.shape[..axis], &x.shape[axis..]].map(|part| part.iter().product());
        check_times(op, &x, axis, times);
        let mut shape = x.shape;
        shape[axis] *= times;
        let flat = x.reshape(&Dims::of(op, &[outer, 1, inner]));
        x = flat.expand_to(op, &[outer, times, inner]).reshape(&shape);
    }
    x
}

/// Raises where so many copies of an axis are more elements than any memory holds.
#[track_caller]
fn check_times(op: &str, x: &Raw, axis: usize, times: usize) {
    let elements = x.numel().max(x.shape[axis]).checked_mul(times);
    if elements.is_none_or(|n| n > isize::MAX as usize) {
        let message = format!("{times} copies of axis {axis} of {:?} are more elements than any memory holds", x.shape);
        raise(Error::Shape { op: op.into(), message });
    }
}

/// What undoes the repetition of a tensor of `shape`.
fn unrepeated(shape: Dims, repeats: &Dims) -> Undo {
    let added = repeats.len() - shape.len();
    let mut now = shape;
    (0..added).for_each(|_| now.insert("repeat", 0, 1));
    let mut undo = Undo::Same;
    for axis in 0..now.len() {
        if repeats[axis] != 1 {
            // Axes to the right are repeated still, those to the left no more.
            let outer = now[..axis].iter().product();
            let inner = (axis..now.len()).map(|a| if a == axis { now[a] } else { now[a] * repeats[a] }).product();
            let apart = Dims::of("repeat", &[outer, repeats[axis], inner]);
            undo = undo.then(Undo::Shape(apart)).then(Undo::Fold(1));
        }
    }
    undo.then(Undo::Shape(shape))
}

#[track_caller]
fn interleaved(x: Raw, axis: usize, repeats: usize) -> Raw {
    check_times("repeat_interleave", &x, axis, repeats);
    let mut shape = x.shape;
    shape[axis] *= repeats;
    let [outer, inner] = [&x.shape[..=axis], &x.shape[axis + 1..]].map(|part| part.iter().product());
    let apart = x.reshape(&Dims::of("repeat_interleave", &[outer, 1, inner]));
    apart.expand_to("repeat_interleave", &[outer, repeats, inner]).reshape(&shape)
}

/// The number of each entry as often as its count says.
#[track_caller]
fn numbers(x: &Raw, axis: isize, counts: &Tensor<Int>) -> Tensor<Int> {
    let op = "repeat_interleave_each";
    let axis = axis_of(op, axis, &x.shape);
    x.same_device(op, &counts.raw);
    if *counts.shape() != [x.shape[axis]] {
        let message = format!("the counts are {:?}, expected [{}]", counts.raw.shape, x.shape[axis]);
        raise(Error::Shape { op: op.into(), message: format!("{message} for axis {axis} of {:?}", x.shape) });
    }
    indices::check(op, &counts.raw, isize::MAX as usize, "count", "the largest count");
    let mut numbers = Vec::new();
    for (number, count) in counts.to_vec().into_iter().enumerate() {
        numbers.resize(numbers.len() + count as usize, number as i64);
    }
    let n = numbers.len();
    Tensor::from_vec(numbers, [n], &x.device)
}

#[track_caller]
fn windows(mut x: Raw, axis: usize, size: usize, step: usize) -> Raw {
    let extent = x.shape[axis];
    if size > extent || step == 0 {
        let message = format!("windows of {size}, {step} apart, do not fit axis {axis} of {:?}", x.shape);
        let hint = ", expected a size of at most the extent and a step of at least 1";
        raise(Error::Argument { op: "unfold".into(), message: message + hint });
    }
    let stride = x.strides[axis];
    x.shape[axis] = (extent - size) / step + 1;
    x.strides[axis] = stride * step as isize;
    x.shape.push("unfold", size);
    x.strides.push("unfold", stride);
    x
}

/// The windows of `ct`, in its last axis, added up at their places in a tensor of `shape`.
#[track_caller]
pub(super) fn folded(ct: &Raw, shape: &Dims, axis: usize, step: usize) -> Raw {
    let (dtype, last) = (ct.dtype, ct.shape.len() - 1);
    let sum = Raw::full(&ct.device, dtype.compute(), shape, Scalar::Int(0));
    for entry in 0..ct.shape[last] {
        let part = ct.clone().slice(last, entry, 1).remove_axis(last);
        let mut place = sum.clone().slice(axis, entry, 1);
        place.shape[axis] = part.shape[axis];
        place.strides[axis] *= step as isize;
        add_to(&place, &part);
    }
    sum.cast(dtype)
}

/// Adds floats to the elements of a view.
#[track_caller]
pub(super) fn add_to(place: &Raw, part: &Raw) {
    run(add::FLOATS.forward, &place.shape, &[place, part], place, &[]);
}

/// The sum over an axis.
#[track_caller]
pub(super) fn summed(x: &Raw, axis: usize) -> Raw {
    fold::sum(x, 1 << axis, 1.0).cast(x.dtype)
}
