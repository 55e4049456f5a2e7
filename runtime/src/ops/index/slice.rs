//! Slices: ranges, steps, numbers and new axes.

use super::entry::{Entry, outside, resolve};
use crate::diff::{Pullback, Want, pull};
use crate::ops::movement::{Merge, Moved, Undo, Window};
use crate::ops::operand::Number;
use crate::raise::raise;
use crate::tensor::{Kind, Raw, Tensor, axis_below, axis_of};
use cotangent_hal::Error;

impl<K: Kind> Tensor<K> {
    /// A view of the entries that `s!` names, axis by axis, as in NumPy: ranges, whose bounds count from the end where
    /// negative and are cut to the axis, with a step, also backwards; a number, which takes the axis away; `ELLIPSIS` for
    /// the axes that are not named, which are those behind the last entry otherwise; `NEW` for a new axis of 1.
    ///
    /// ```
    /// use cotangent_runtime::prelude::*;
    /// let x = arange(24).reshape([2, 3, 4]);
    /// assert_eq!(x.clone().slice(s![.., 1.., -1]).to_vec(), [7, 11, 19, 23]);
    /// assert_eq!(x.clone().slice(s![0, 0, ..;-2]).to_vec(), [3, 1]);
    /// assert_eq!(x.slice(s![ELLIPSIS, NEW, 0..2]).shape(), [2, 3, 1, 2]);
    /// ```
    ///
    /// Raises `Error::Argument` where there are more entries than axes, a number is not in its axis, or a step is 0.
    #[track_caller]
    pub fn slice<E: AsRef<[Entry]>>(self, entries: E) -> Self {
        let cut = resolve("slice", &self.raw.shape, entries.as_ref());
        Tensor::from_raw(cut.of(self.raw))
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn slice__vjp<E: AsRef<[Entry]>>(self, entries: E, want: Want) -> (Self, Moved<K, 1>) {
        let cut = resolve("slice", &self.raw.shape, entries.as_ref());
        let window = Window::of(&self.raw, |x| cut.of(x));
        (Tensor::from_raw(cut.of(self.raw)), Moved::new(want, Undo::Inlay(window)))
    }

    /// `self` where `src`, broadcast to the shape of the slice, has replaced the entries that `s!` names.
    ///
    /// Raises as [`slice`](Self::slice), and `Error::Shape` where `src` does not broadcast. `src` is converted to the dtype
    /// of `self`.
    #[track_caller]
    pub fn slice_assign<E: AsRef<[Entry]>>(self, entries: E, src: Tensor<K>) -> Self {
        let window = window("slice_assign", &self.raw, entries.as_ref());
        Tensor::from_raw(assigned(&window, self.raw, &src.raw))
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn slice_assign__vjp<E: AsRef<[Entry]>>(
        self,
        entries: E,
        src: Tensor<K>,
        want: Want,
    ) -> (Self, impl Pullback<(), Ct = K::Ct, In = (K::Ct, (), K::Ct)> + use<K, E>) {
        let window = window("slice_assign", &self.raw, entries.as_ref());
        let (into, from) = (K::ACTIVE && want.has(0), K::ACTIVE && want.has(2));
        let back = || (Undo::View(window).then(Undo::Sum(src.raw.shape)), src.raw.dtype);
        let merge = Merge { into: into.then_some(Undo::Blank(window)), src: from.then(back) };
        let y = Tensor::from_raw(assigned(&window, self.raw, &src.raw));
        let pullback = move |ct, (): &mut ()| {
            let (x, src) = merge.pull::<K>(ct);
            (x, (), src)
        };
        (y, pull(pullback))
    }

    /// `self` with a number in the entries that `s!` names. Of truth values, 0 is false.
    #[track_caller]
    pub fn slice_fill<E: AsRef<[Entry]>>(self, entries: E, value: impl Number) -> Self {
        let window = window("slice_fill", &self.raw, entries.as_ref());
        Tensor::from_raw(filled(&window, self.raw, value))
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn slice_fill__vjp<E: AsRef<[Entry]>, N: Number>(
        self,
        entries: E,
        value: N,
        want: Want,
    ) -> (Self, Moved<K, 2>) {
        let window = window("slice_fill", &self.raw, entries.as_ref());
        (Tensor::from_raw(filled(&window, self.raw, value)), Moved::new(want, Undo::Blank(window)))
    }

    /// The entry of an axis with that number, counted from the end where negative, as a view without the axis.
    ///
    /// Raises `Error::Argument` where there is no such axis or entry.
    #[track_caller]
    pub fn select(self, axis: isize, index: isize) -> Self {
        let (axis, entry) = numbered("select", &self.raw, axis, index);
        Tensor::from_raw(self.raw.slice(axis, entry, 1).remove_axis(axis))
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn select__vjp(self, axis: isize, index: isize, want: Want) -> (Self, Moved<K, 2>) {
        let (at, start) = numbered("select", &self.raw, axis, index);
        let (shape, mut one) = (self.raw.shape, self.raw.shape);
        one[at] = 1;
        let undo = Undo::Shape(one).then(Undo::Pad { shape, axis: at, start });
        (self.select(axis, index), Moved::new(want, undo))
    }
}

#[track_caller]
fn window(op: &str, x: &Raw, entries: &[Entry]) -> Window {
    let cut = resolve(op, &x.shape, entries);
    Window::of(x, |x| cut.of(x))
}

#[track_caller]
fn assigned(window: &Window, x: Raw, src: &Raw) -> Raw {
    x.same_device("slice_assign", src);
    let src = src.expand_to("slice_assign", &window.shape);
    let out = x.owned();
    src.copy_to(&window.on(&out));
    out
}

#[track_caller]
fn filled(window: &Window, x: Raw, value: impl Number) -> Raw {
    let out = x.owned();
    window.on(&out).fill(value.number());
    out
}

#[track_caller]
fn numbered(op: &str, x: &Raw, axis: isize, index: isize) -> (usize, usize) {
    let axis = axis_of(op, axis, &x.shape);
    let extent = x.shape[axis];
    match axis_below(index, extent) {
        Some(entry) => (axis, entry),
        None => raise(Error::Argument { op: op.into(), message: outside(index, axis, &x.shape) }),
    }
}
