//! Other shapes of the same elements.

use super::undo::{Moved, Undo, inverse};
use crate::diff::{Pullback, Want, pull};
use crate::raise::raise;
use crate::tensor::{Axes, Dims, IntoAxes, IntoShape, Kind, Raw, Tensor, axis_below, axis_of};
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

    /// A view without these axes, whose extents must be 1; `..` stands for every axis of extent 1.
    #[track_caller]
    pub fn squeeze<A: IntoAxes>(self, axes: A) -> Self {
        let shape = squeezed(&self.raw, axes.into_axes());
        Tensor::from_raw(self.raw.reshape(&shape))
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn squeeze__vjp<A: IntoAxes>(self, axes: A, want: Want) -> (Self, Moved<K, 1>) {
        let undo = Undo::Shape(self.raw.shape);
        (self.squeeze(axes), Moved::new(want, undo))
    }

    /// An axis cut into several: `[A, 6, B]` with axis 1 as `[2, 3]` is `[A, 2, 3, B]`. One -1 stands for what the others
    /// leave.
    ///
    /// Raises `Error::Shape` where the extents do not make up that of the axis.
    #[track_caller]
    pub fn unflatten<S: IntoShape>(self, axis: isize, sizes: S) -> Self {
        let shape = unflattened(&self.raw, axis, sizes);
        Tensor::from_raw(self.raw.reshape(&shape))
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn unflatten__vjp<S: IntoShape>(self, axis: isize, sizes: S, want: Want) -> (Self, Moved<K, 2>) {
        let undo = Undo::Shape(self.raw.shape);
        (self.unflatten(axis, sizes), Moved::new(want, undo))
    }

    /// [`reshape`](Self::reshape) to the shape of `other`.
    #[track_caller]
    pub fn reshape_as<J: Kind>(self, other: Tensor<J>) -> Self {
        self.reshape(other.raw.shape)
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn reshape_as__vjp<J: Kind>(
        self,
        other: Tensor<J>,
        want: Want,
    ) -> (Self, impl Pullback<(), Ct = K::Ct, In = (K::Ct, J::Ct)> + use<K, J>) {
        let (y, moved) = self.reshape__vjp(other.raw.shape, want);
        (y, pull(move |ct, (): &mut ()| (moved.pull(ct, &mut ()).0, J::Ct::default())))
    }

    /// [`reshape_as`](Self::reshape_as) by another name: a copy is made where strides need one.
    #[track_caller]
    pub fn view_as<J: Kind>(self, other: Tensor<J>) -> Self {
        self.reshape_as(other)
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn view_as__vjp<J: Kind>(
        self,
        other: Tensor<J>,
        want: Want,
    ) -> (Self, impl Pullback<(), Ct = K::Ct, In = (K::Ct, J::Ct)> + use<K, J>) {
        self.reshape_as__vjp(other, want)
    }

    /// [`expand`](Self::expand) to the shape of `other`.
    #[track_caller]
    pub fn expand_as<J: Kind>(self, other: Tensor<J>) -> Self {
        self.expand(other.raw.shape)
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn expand_as__vjp<J: Kind>(
        self,
        other: Tensor<J>,
        want: Want,
    ) -> (Self, impl Pullback<(), Ct = K::Ct, In = (K::Ct, J::Ct)> + use<K, J>) {
        let (y, moved) = self.expand__vjp(other.raw.shape, want);
        (y, pull(move |ct, (): &mut ()| (moved.pull(ct, &mut ()).0, J::Ct::default())))
    }

    /// [`expand`](Self::expand) by its name in NumPy.
    #[track_caller]
    pub fn broadcast_to<S: IntoShape>(self, shape: S) -> Self {
        self.expand(shape)
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn broadcast_to__vjp<S: IntoShape>(self, shape: S, want: Want) -> (Self, Moved<K, 1>) {
        self.expand__vjp(shape, want)
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

/// The shape without these axes.
#[track_caller]
fn squeezed(x: &Raw, axes: Axes) -> Dims {
    let mut gone = axes.resolve("squeeze", &x.shape);
    let mut left = x.shape;
    gone.sort_unstable();
    for &axis in gone.iter().rev() {
        if x.shape[axis] == 1 {
            left.remove(axis);
        } else if !axes.is_all() {
            raise(Error::Shape {
                op: "squeeze".into(),
                message: format!("axis {axis} of {:?} is {}, expected 1", x.shape, x.shape[axis]),
            });
        }
    }
    left
}

/// The shape with an axis cut into several.
#[track_caller]
fn unflattened(x: &Raw, axis: isize, sizes: impl IntoShape) -> Dims {
    let axis = axis_of("unflatten", axis, &x.shape);
    let sizes = sizes.into_shape().for_elements_of("unflatten", &Dims::of("unflatten", &[x.shape[axis]]));
    let mut shape = Dims::of("unflatten", &x.shape[..axis]);
    for &extent in sizes.iter().chain(&x.shape[axis + 1..]) {
        shape.push("unflatten", extent);
    }
    shape
}
