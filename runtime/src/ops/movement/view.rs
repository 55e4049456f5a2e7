//! Movement on raw tensors: new shapes and strides over the same buffer.

use crate::raise::raise;
use crate::tensor::{Dims, Raw, Strides};
use cotangent_hal::Error;

impl Raw {
    /// The elements in row-major order under a shape of as many: a view where the strides allow, else a copy.
    #[track_caller]
    pub(crate) fn reshape(self, shape: &Dims) -> Raw {
        debug_assert_eq!(self.numel(), shape.numel());
        if self.shape == *shape {
            return self;
        }
        if self.is_contiguous() {
            return Raw { strides: shape.row_major(), shape: *shape, ..self };
        }
        match reshaped_strides(&self.shape, &self.strides, shape) {
            Some(strides) => Raw { strides, shape: *shape, ..self },
            None => self.copy().reinterpret(shape),
        }
    }

    /// Axis `i` of the view is axis `order[i]`; `order` names every axis once.
    pub(crate) fn permute(self, order: &[usize]) -> Raw {
        let (mut shape, mut strides) = (self.shape, self.strides);
        for (to, &from) in order.iter().enumerate() {
            shape[to] = self.shape[from];
            strides[to] = self.strides[from];
        }
        Raw { shape, strides, ..self }
    }

    /// Two axes swapped.
    pub(crate) fn swap_axes(mut self, a: usize, b: usize) -> Raw {
        self.shape.swap(a, b);
        self.strides.swap(a, b);
        self
    }

    /// `len` entries of an axis from `start` on, which must lie inside of it.
    pub(crate) fn slice(mut self, axis: usize, start: usize, len: usize) -> Raw {
        debug_assert!(start + len <= self.shape[axis]);
        self.shape[axis] = len;
        // A view without elements may begin anywhere; kept inside, its offset needs no case of its own.
        if len > 0 {
            self.offset = self.offset.wrapping_add_signed(start as isize * self.strides[axis]);
        }
        self
    }

    /// The first entries of every axis, as many as `shape` says, which are no more than there are.
    pub(crate) fn corner(self, shape: &Dims) -> Raw {
        shape.iter().enumerate().fold(self, |x, (axis, &extent)| x.slice(axis, 0, extent))
    }

    /// Itself where nothing else holds it and its elements lie in order, else a copy: what may be written to.
    #[track_caller]
    pub(crate) fn owned(self) -> Raw {
        if self.buffer.is_unique() && self.is_contiguous() { self } else { self.copy() }
    }

    /// A new axis of extent 1 at place `axis`; raises where there is no room for it.
    #[track_caller]
    pub(crate) fn insert_axis(mut self, op: &str, axis: usize) -> Raw {
        self.shape.insert(op, axis, 1);
        self.strides.insert(op, axis, 0);
        self
    }

    /// An axis of extent 1 taken out.
    pub(crate) fn remove_axis(mut self, axis: usize) -> Raw {
        debug_assert_eq!(self.shape[axis], 1);
        self.shape.remove(axis);
        self.strides.remove(axis);
        self
    }

    /// Raises where `len` entries from `start` on do not lie inside of the axis.
    #[track_caller]
    pub(crate) fn check_slice(&self, op: &str, axis: usize, start: usize, len: usize) {
        let extent = self.shape[axis];
        if start.checked_add(len).is_none_or(|end| end > extent) {
            raise(Error::Argument {
                op: op.into(),
                message: format!(
                    "{len} entries from {start} on were asked for, but axis {axis} of {:?} is {extent}",
                    self.shape
                ),
            });
        }
    }
}

/// The strides under which elements at `strides` read as `new`, a shape of as many elements; `None` where no strides do.
///
/// Neighbouring axes that are walked with one stride form a run, and the new axes must divide the runs.
fn reshaped_strides(old: &Dims, strides: &Strides, new: &Dims) -> Option<Strides> {
    let mut out = new.row_major();
    if old.contains(&0) {
        return Some(out);
    }
    // Places after those that are still to be filled, innermost first.
    let mut open = new.len();
    let mut axis = old.len();
    while axis > 0 {
        axis -= 1;
        let (mut run, stride) = (old[axis], strides[axis]);
        if run == 1 {
            continue;
        }
        while axis > 0 && (old[axis - 1] == 1 || strides[axis - 1] == stride * run as isize) {
            axis -= 1;
            run *= old[axis];
        }
        let mut filled = 1;
        while open > 0 && filled < run {
            open -= 1;
            out[open] = stride * filled as isize;
            filled *= new[open];
        }
        if filled != run {
            return None;
        }
    }
    Some(out)
}
