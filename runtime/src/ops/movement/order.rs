//! Entries and axes in another order, as views.

use super::undo::{Moved, Undo, inverse};
use super::window::Window;
use crate::diff::Want;
use crate::raise::raise;
use crate::tensor::{Dims, IntoAxes, IntoShape, Kind, Raw, Tensor};
use cotangent_hal::Error;

impl Raw {
    /// The entries of an axis backwards.
    pub(crate) fn reversed(mut self, axis: usize) -> Raw {
        let last = self.shape[axis].saturating_sub(1);
        self.offset = self.offset.wrapping_add_signed(last as isize * self.strides[axis]);
        self.strides[axis] = -self.strides[axis];
        self
    }
}

impl<K: Kind> Tensor<K> {
    /// A view with the entries of these axes backwards.
    ///
    /// Raises `Error::Argument` for an axis that is not there, or named twice.
    #[track_caller]
    pub fn flip<A: IntoAxes>(self, axes: A) -> Self {
        let axes = axes.into_axes().resolve("flip", &self.raw.shape);
        Tensor::from_raw(flipped(self.raw, &axes))
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn flip__vjp<A: IntoAxes>(self, axes: A, want: Want) -> (Self, Moved<K, 1>) {
        let axes = axes.into_axes().resolve("flip", &self.raw.shape);
        let window = Window::of(&self.raw, |x| flipped(x, &axes));
        (Tensor::from_raw(flipped(self.raw, &axes)), Moved::new(want, Undo::View(window)))
    }

    /// The entries of each axis moved on by so many places, those that leave at the end coming back at the start. A
    /// negative number moves them towards the start; of several axes each has a number of its own. Copied.
    ///
    /// Raises `Error::Argument` where there are not as many numbers as axes, or an axis is not there.
    #[track_caller]
    pub fn roll<S: IntoShifts, A: IntoAxes>(self, shifts: S, axes: A) -> Self {
        let rolls = rolls(&self.raw, shifts, axes);
        Tensor::from_raw(rolls.iter().fold(self.raw, |x, &(axis, by)| rolled(x, axis, by)))
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn roll__vjp<S: IntoShifts, A: IntoAxes>(self, shifts: S, axes: A, want: Want) -> (Self, Moved<K, 2>) {
        let rolls = rolls(&self.raw, shifts, axes);
        let y = Tensor::from_raw(rolls.iter().fold(self.raw, |x, &(axis, by)| rolled(x, axis, by)));
        let undo = || rolls.iter().fold(Undo::Same, |undo, &(axis, by)| undo.then(Undo::Roll { axis, by: -by }));
        (y, Moved::with(want, undo))
    }

    /// A view whose axes `from` have become the axes `to`, in that order, the others staying in theirs.
    ///
    /// Raises `Error::Argument` where there are not as many of the one as of the other, an axis is not there or named
    /// twice.
    #[track_caller]
    pub fn movedim<A: IntoAxes, B: IntoAxes>(self, from: A, to: B) -> Self {
        let order = moved_order(&self.raw, from, to);
        Tensor::from_raw(self.raw.permute(&order))
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn movedim__vjp<A: IntoAxes, B: IntoAxes>(self, from: A, to: B, want: Want) -> (Self, Moved<K, 2>) {
        let order = moved_order(&self.raw, from, to);
        (Tensor::from_raw(self.raw.permute(&order)), Moved::new(want, Undo::Order(inverse(&order))))
    }

    /// A view with two axes swapped: [`transpose`](Self::transpose) by its name in NumPy.
    #[track_caller]
    pub fn swapaxes(self, a: isize, b: isize) -> Self {
        self.transpose(a, b)
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn swapaxes__vjp(self, a: isize, b: isize, want: Want) -> (Self, Moved<K, 2>) {
        self.transpose__vjp(a, b, want)
    }

    /// A view with two axes swapped: [`transpose`](Self::transpose) by another name.
    #[track_caller]
    pub fn swapdims(self, a: isize, b: isize) -> Self {
        self.transpose(a, b)
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn swapdims__vjp(self, a: isize, b: isize, want: Want) -> (Self, Moved<K, 2>) {
        self.transpose__vjp(a, b, want)
    }

    /// A view turned by so many quarters in the plane of two axes, from the first towards the second.
    ///
    /// Raises `Error::Argument` where there are not two axes.
    #[track_caller]
    pub fn rot90<A: IntoAxes>(self, quarters: isize, axes: A) -> Self {
        let plane = plane(&self.raw, axes);
        Tensor::from_raw(turned(self.raw, quarters, plane))
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn rot90__vjp<A: IntoAxes>(self, quarters: isize, axes: A, want: Want) -> (Self, Moved<K, 2>) {
        let plane = plane(&self.raw, axes);
        let window = Window::of(&self.raw, |x| turned(x, quarters, plane));
        (Tensor::from_raw(turned(self.raw, quarters, plane)), Moved::new(want, Undo::Inlay(window)))
    }
}

fn flipped(x: Raw, axes: &Dims) -> Raw {
    axes.iter().fold(x, |x, &axis| x.reversed(axis))
}

/// The entries of an axis moved on by `by` places.
#[track_caller]
pub(super) fn rolled(x: Raw, axis: usize, by: isize) -> Raw {
    let extent = x.shape[axis];
    if extent == 0 {
        return x;
    }
    let by = by.rem_euclid(extent as isize) as usize;
    if by == 0 {
        return x;
    }
    let parts = [(0, x.clone().slice(axis, extent - by, by)), (by, x.clone().slice(axis, 0, extent - by))];
    super::joined(&x.shape, axis, &parts)
}

/// How far entries move along each axis.
#[track_caller]
fn rolls(x: &Raw, shifts: impl IntoShifts, axes: impl IntoAxes) -> Vec<(usize, isize)> {
    let (shifts, axes) = (shifts.into_shifts(), axes.into_axes().resolve("roll", &x.shape));
    if shifts.len() != axes.len() {
        let message = format!("{} shifts {shifts:?} were given for {} axes {axes:?}", shifts.len(), axes.len());
        raise(Error::Argument { op: "roll".into(), message });
    }
    axes.iter().copied().zip(shifts).collect()
}

/// What the distances of [`Tensor::roll`] can be written as: an integer, an array, slice or `Vec` of integers.
pub trait IntoShifts {
    /// The distances in order.
    fn into_shifts(self) -> Vec<isize>;
}

impl<S: IntoShape> IntoShifts for S {
    fn into_shifts(self) -> Vec<isize> {
        self.into_shape().written().iter().map(|&by| by as isize).collect()
    }
}

#[track_caller]
fn moved_order(x: &Raw, from: impl IntoAxes, to: impl IntoAxes) -> Dims {
    let [from, to] = [from.into_axes(), to.into_axes()].map(|axes| axes.resolve("movedim", &x.shape));
    if from.len() != to.len() {
        let message = format!("{} axes {from:?} cannot become {} axes {to:?}", from.len(), to.len());
        raise(Error::Argument { op: "movedim".into(), message });
    }
    let mut others = (0..x.shape.len()).filter(|axis| !from.contains(axis));
    let mut order = x.shape;
    for (axis, place) in order.iter_mut().enumerate() {
        *place = match to.iter().position(|&t| t == axis) {
            Some(at) => from[at],
            None => others.next().unwrap_or(axis),
        };
    }
    order
}

#[track_caller]
fn plane(x: &Raw, axes: impl IntoAxes) -> (usize, usize) {
    let axes = axes.into_axes().resolve("rot90", &x.shape);
    match *axes {
        [a, b] => (a, b),
        _ => raise(Error::Argument { op: "rot90".into(), message: format!("the axes are {axes:?}, expected two") }),
    }
}

fn turned(x: Raw, quarters: isize, (a, b): (usize, usize)) -> Raw {
    match quarters.rem_euclid(4) {
        0 => x,
        1 => x.reversed(b).swap_axes(a, b),
        2 => x.reversed(a).reversed(b),
        _ => x.reversed(a).swap_axes(a, b),
    }
}
