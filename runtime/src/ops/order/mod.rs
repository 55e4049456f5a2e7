//! Sorting, and the elements at given places of the order.
//!
//! The order is total: NaN is larger than all numbers, both zeros are equal, and equal elements stay in the order of
//! their places, in descending order too. Cotangents go back to the places where elements came from.

#![allow(non_snake_case, reason = "companions are named `<operation>__vjp`")]

mod count;
mod search;
mod unique;

use super::lines::Placed;
use super::turn::Turn;
use crate::diff::Want;
use crate::raise::raise;
use crate::tensor::{Int, Kind, Raw, Tensor, launch};
use cotangent_hal::{Arg, DType, Error, LibraryCall};

pub(super) use search::places;

cotangent_hal::kernel! {
    /// The lower median of rows in order, or the first NaN.
    static MEDIAN = Rows "median" (x: Each F32, at: Each I64) -> (y: PerRow F32, place: PerRow I64) |tile| {
        let numbers = x.partition_point(|v| !v.is_nan());
        let middle = if numbers < tile.1 { numbers } else { (tile.1 - 1) / 2 };
        y[0] = x[middle];
        place[0] = at[middle];
    }
}

/// The first `k` elements in order along the axis of `turn`, and their places.
#[track_caller]
fn first(turn: Turn, x: &Raw, k: usize, descending: bool) -> (Raw, Raw) {
    let rows = turn.to_rows(x.clone());
    let last = rows.shape.len() - 1;
    let mut shape = rows.shape;
    shape[last] = k;
    let (values, at) = (turn.empty(&rows, x.dtype, &shape), turn.empty(&rows, DType::I64, &shape));
    let call = LibraryCall::Sort { x: rows.view(), values: values.view(), at: at.view(), descending };
    x.device.library(&call);
    (turn.back(values), turn.back(at))
}

/// Raises where there are no `k` elements along the axis, or where `k` is less than `least`.
#[track_caller]
fn check_count(op: &str, turn: Turn, x: &Raw, k: usize, least: usize) {
    let n = turn.extent(x);
    if k < least || k > n {
        let axis = match turn {
            Turn::Scalar => "a scalar has one element".into(),
            Turn::Swap(axis) => format!("axis {axis} of {:?} is {n}", x.shape),
        };
        let message = format!("k = {k} was given, but {axis}, expected {least} <= k <= {n}");
        raise(Error::Argument { op: op.into(), message });
    }
}

/// Values and places without the axis.
fn without_axis(turn: Turn, pair: (Raw, Raw), at: usize) -> (Raw, Raw) {
    let Turn::Swap(axis) = turn else { return pair };
    let one = |raw: Raw| raw.slice(axis, at, 1).remove_axis(axis);
    (one(pair.0), one(pair.1))
}

fn typed<K: Kind>((values, at): (Raw, Raw)) -> (Tensor<K>, Tensor<Int>) {
    (Tensor::from_raw(values), Tensor::from_raw(at))
}

/// The `k`-th element in ascending order, counted from 1, and its place.
#[track_caller]
fn kth(x: &Raw, k: usize, axis: isize) -> (Turn, (Raw, Raw)) {
    let turn = Turn::of("kthvalue", &x.shape, axis);
    check_count("kthvalue", turn, x, k, 1);
    (turn, without_axis(turn, first(turn, x, k, false), k - 1))
}

#[track_caller]
fn median(x: &Raw, axis: isize) -> (Turn, (Raw, Raw)) {
    let turn = Turn::of("median", &x.shape, axis);
    let n = turn.extent(x);
    if n == 0 {
        let message = format!("axis {axis} of {:?} is empty, and no elements have no median", x.shape);
        raise(Error::Shape { op: "median".into(), message });
    }
    let (values, at) = first(turn, x, n, false);
    let Turn::Swap(axis) = turn else { return (turn, (values, at)) };
    if !x.dtype.is_float() {
        return (turn, without_axis(turn, (values, at), (n - 1) / 2));
    }
    let mut kept = x.shape;
    kept.remove(axis);
    let (y, place) = (Raw::empty(&x.device, x.dtype, &kept), Raw::empty(&x.device, DType::I64, &kept));
    if y.numel() > 0 {
        // The axis goes to the end, the others stay in their order.
        let order: Vec<usize> = (0..x.shape.len()).filter(|&i| i != axis).chain([axis]).collect();
        let (values, at) = (values.permute(&order), at.permute(&order));
        let args = [Arg::In(values.view()), Arg::In(at.view()), Arg::Out(y.view()), Arg::Out(place.view())];
        launch(&x.device, &MEDIAN, &values.shape, &args);
    }
    (turn, (y, place))
}

impl<K: Kind> Tensor<K> {
    /// The elements in ascending or descending order along an axis, and the places where they were. Equal elements stay
    /// in their order; NaN is larger than all numbers.
    #[track_caller]
    pub fn sort(self, axis: isize, descending: bool) -> (Tensor<K>, Tensor<Int>) {
        let turn = Turn::of("sort", self.shape(), axis);
        typed(first(turn, &self.raw, turn.extent(&self.raw), descending))
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn sort__vjp(self, axis: isize, descending: bool, want: Want) -> ((Tensor<K>, Tensor<Int>), Placed<K, 2>) {
        let turn = Turn::of("sort", self.shape(), axis);
        let n = turn.extent(&self.raw);
        let (values, at) = first(turn, &self.raw, n, descending);
        let placed = Placed::new(turn, n, &at, want);
        (typed((values, at)), placed)
    }

    /// The places of the elements in the order of [`sort`](Tensor::sort).
    #[track_caller]
    pub fn argsort(self, axis: isize, descending: bool) -> Tensor<Int> {
        let turn = Turn::of("argsort", self.shape(), axis);
        Tensor::from_raw(first(turn, &self.raw, turn.extent(&self.raw), descending).1)
    }

    /// The `k` largest elements along an axis, or the smallest, and the places where they were; of equal ones the first.
    /// They come in order, largest or smallest first, whether `sorted` asks for that or leaves it open. NaN is larger than
    /// all numbers.
    ///
    /// Raises `Error::Argument` where the axis has fewer than `k` elements.
    #[track_caller]
    pub fn topk(self, k: usize, axis: isize, largest: bool, sorted: bool) -> (Tensor<K>, Tensor<Int>) {
        self.topk__vjp(k, axis, largest, sorted, Want::NONE).0
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn topk__vjp(
        self,
        k: usize,
        axis: isize,
        largest: bool,
        _sorted: bool,
        want: Want,
    ) -> ((Tensor<K>, Tensor<Int>), Placed<K, 4>) {
        let turn = Turn::of("topk", self.shape(), axis);
        check_count("topk", turn, &self.raw, k, 0);
        let (values, at) = first(turn, &self.raw, k, largest);
        let placed = Placed::new(turn, turn.extent(&self.raw), &at, want);
        (typed((values, at)), placed)
    }

    /// The `k`-th smallest element along an axis, which the result lacks, counted from 1, and its place there. NaN is
    /// larger than all numbers.
    ///
    /// Raises `Error::Argument` where the axis has fewer than `k` elements, or `k` is 0.
    #[track_caller]
    pub fn kthvalue(self, k: usize, axis: isize) -> (Tensor<K>, Tensor<Int>) {
        typed(kth(&self.raw, k, axis).1)
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn kthvalue__vjp(self, k: usize, axis: isize, want: Want) -> ((Tensor<K>, Tensor<Int>), Placed<K, 2>) {
        let (turn, (y, at)) = kth(&self.raw, k, axis);
        let placed = Placed::new(turn, turn.extent(&self.raw), &at, want).dropped();
        (typed((y, at)), placed)
    }

    /// The median along an axis, which the result lacks, and its place there: of an even number of elements the lower of
    /// both in the middle. NaN where there is one. Raises `Error::Shape` for an empty axis.
    #[track_caller]
    pub fn median(self, axis: isize) -> (Tensor<K>, Tensor<Int>) {
        typed(median(&self.raw, axis).1)
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn median__vjp(self, axis: isize, want: Want) -> ((Tensor<K>, Tensor<Int>), Placed<K, 1>) {
        let (turn, (y, at)) = median(&self.raw, axis);
        let placed = Placed::new(turn, turn.extent(&self.raw), &at, want).dropped();
        (typed((y, at)), placed)
    }
}
