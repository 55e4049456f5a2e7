//! Movement: other shapes and orders of the same elements, as views wherever strides allow.

use super::movement_undo::{Moved, Undo, inverse};
use crate::diff::Want;
use crate::raise::raise;
use crate::tensor::{Dims, IntoAxes, IntoShape, Kind, Tensor, axis_below, axis_of};
use cotangent_hal::Error;

impl<K: Kind> Tensor<K> {
    /// The same elements in row-major order under `shape`, in which one -1 stands for what the number of elements
    /// leaves. A view where the strides allow.
    ///
    /// Raises where the numbers of elements differ, naming both shapes.
    #[track_caller]
    pub fn reshape<S: IntoShape>(self, shape: S) -> Self {
        let shape = shape.into_shape().for_elements_of("reshape", &self.raw.shape);
        Tensor::from_raw(self.raw.reshape(&shape))
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn reshape__vjp<S: IntoShape>(self, shape: S, want: Want) -> (Self, Moved<K, 1>) {
        let undo = Undo::Shape(self.raw.shape);
        (self.reshape(shape), Moved::new(want, undo))
    }

    /// All axes from `start` to the last made one: `[A.., B, C]` from `start = -2` is `[A.., B C]`. A scalar becomes `[1]`.
    #[track_caller]
    pub fn flatten(self, start: isize) -> Self {
        let shape = &self.raw.shape;
        let start = if shape.is_empty() && matches!(start, 0 | -1) { 0 } else { axis_of("flatten", start, shape) };
        let mut flat = Dims::of("flatten", &shape[..start]);
        flat.push("flatten", shape[start..].iter().product());
        Tensor::from_raw(self.raw.reshape(&flat))
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn flatten__vjp(self, start: isize, want: Want) -> (Self, Moved<K, 1>) {
        let undo = Undo::Shape(self.raw.shape);
        (self.flatten(start), Moved::new(want, undo))
    }

    /// A view with two axes swapped.
    #[track_caller]
    pub fn transpose(self, a: isize, b: isize) -> Self {
        let (a, b) = (axis_of("transpose", a, &self.raw.shape), axis_of("transpose", b, &self.raw.shape));
        Tensor::from_raw(self.raw.swap_axes(a, b))
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn transpose__vjp(self, a: isize, b: isize, want: Want) -> (Self, Moved<K, 2>) {
        let (a, b) = (axis_of("transpose", a, &self.raw.shape), axis_of("transpose", b, &self.raw.shape));
        (Tensor::from_raw(self.raw.swap_axes(a, b)), Moved::new(want, Undo::Swap(a, b)))
    }

    /// A matrix transposed, as a view; a vector or scalar as it is. Raises for more axes.
    #[track_caller]
    pub fn t(self) -> Self {
        if self.rank() > 2 {
            raise(Error::Shape {
                op: "t".into(),
                message: format!("{:?} has {} axes, expected at most 2; use `transpose`", self.raw.shape, self.rank()),
            });
        }
        if self.rank() < 2 { self } else { Tensor::from_raw(self.raw.swap_axes(0, 1)) }
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn t__vjp(self, want: Want) -> (Self, Moved<K, 0>) {
        let undo = if self.rank() < 2 { Undo::Same } else { Undo::Swap(0, 1) };
        (self.t(), Moved::new(want, undo))
    }

    /// A view whose axis `i` is axis `order[i]`. Raises where `order` does not name every axis once.
    #[track_caller]
    pub fn permute<A: IntoAxes>(self, order: A) -> Self {
        let order = self.order(order);
        Tensor::from_raw(self.raw.permute(&order))
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn permute__vjp<A: IntoAxes>(self, order: A, want: Want) -> (Self, Moved<K, 1>) {
        let order = self.order(order);
        (Tensor::from_raw(self.raw.permute(&order)), Moved::new(want, Undo::Order(inverse(&order))))
    }

    #[track_caller]
    fn order(&self, order: impl IntoAxes) -> Dims {
        let order = order.into_axes().resolve("permute", &self.raw.shape);
        if order.len() != self.rank() {
            raise(Error::Shape {
                op: "permute".into(),
                message: format!("{order:?} names {} of the {} axes of {:?}", order.len(), self.rank(), self.raw.shape),
            });
        }
        order
    }

    /// A view with a new axis of 1 at place `axis`, counted from the end of the result where negative.
    #[track_caller]
    pub fn unsqueeze(self, axis: isize) -> Self {
        let Some(at) = axis_below(axis, self.rank() + 1) else {
            let (shape, rank) = (self.raw.shape, self.rank() as isize);
            raise(Error::Argument {
                op: "unsqueeze".into(),
                message: format!("axis {axis} was given, but {shape:?} has room at the axes {} to {rank}", -rank - 1),
            })
        };
        Tensor::from_raw(self.raw.insert_axis("unsqueeze", at))
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn unsqueeze__vjp(self, axis: isize, want: Want) -> (Self, Moved<K, 1>) {
        let undo = Undo::Shape(self.raw.shape);
        (self.unsqueeze(axis), Moved::new(want, undo))
    }

    /// A view without axis `axis`, whose extent must be 1.
    #[track_caller]
    pub fn squeeze(self, axis: isize) -> Self {
        let at = axis_of("squeeze", axis, &self.raw.shape);
        if self.raw.shape[at] != 1 {
            raise(Error::Shape {
                op: "squeeze".into(),
                message: format!("axis {at} of {:?} is {}, expected 1", self.raw.shape, self.raw.shape[at]),
            });
        }
        Tensor::from_raw(self.raw.remove_axis(at))
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn squeeze__vjp(self, axis: isize, want: Want) -> (Self, Moved<K, 1>) {
        let undo = Undo::Shape(self.raw.shape);
        (self.squeeze(axis), Moved::new(want, undo))
    }

    /// A view of `shape` in which axes of 1, and new axes in front, repeat their values; -1 keeps an axis as it is.
    ///
    /// Raises where another extent would change, naming the axis and both shapes.
    #[track_caller]
    pub fn expand<S: IntoShape>(self, shape: S) -> Self {
        let shape = shape.into_shape().for_expanding("expand", &self.raw.shape);
        Tensor::from_raw(self.raw.expand_to("expand", &shape))
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn expand__vjp<S: IntoShape>(self, shape: S, want: Want) -> (Self, Moved<K, 1>) {
        let undo = Undo::Sum(self.raw.shape);
        (self.expand(shape), Moved::new(want, undo))
    }

    /// A view of `len` entries of an axis from `start` on. Raises where they do not lie inside of it.
    #[track_caller]
    pub fn narrow(self, axis: isize, start: usize, len: usize) -> Self {
        let axis = axis_of("narrow", axis, &self.raw.shape);
        self.raw.check_slice("narrow", axis, start, len);
        Tensor::from_raw(self.raw.slice(axis, start, len))
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn narrow__vjp(self, axis: isize, start: usize, len: usize, want: Want) -> (Self, Moved<K, 3>) {
        let shape = self.raw.shape;
        let undo = Undo::Pad { shape, axis: axis_of("narrow", axis, &shape), start };
        (self.narrow(axis, start, len), Moved::new(want, undo))
    }

    /// The same values in row-major order: itself where that is so already, else a copy.
    #[track_caller]
    pub fn contiguous(self) -> Self {
        Tensor::from_raw(self.raw.contiguous())
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn contiguous__vjp(self, want: Want) -> (Self, Moved<K, 0>) {
        (self.contiguous(), Moved::new(want, Undo::Same))
    }
}
