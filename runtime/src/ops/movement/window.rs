//! Views as data: where the elements of a view lie in the tensor that it is one of.

use crate::tensor::{Dims, Raw, Strides};

/// A view of a contiguous tensor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    /// The shape of the tensor.
    pub(crate) whole: Dims,
    offset: usize,
    pub(crate) shape: Dims,
    strides: Strides,
}

impl Window {
    /// What `view` makes of a tensor of the shape of `x`.
    pub(crate) fn of(x: &Raw, view: impl FnOnce(Raw) -> Raw) -> Window {
        let seen = view(Raw { offset: 0, strides: x.shape.row_major(), ..x.clone() });
        Window { whole: x.shape, offset: seen.offset, shape: seen.shape, strides: seen.strides }
    }

    /// The view of a tensor of the whole shape, which is contiguous.
    pub(crate) fn on(&self, x: &Raw) -> Raw {
        debug_assert!(x.is_contiguous() && x.shape == self.whole);
        Raw { offset: x.offset + self.offset, shape: self.shape, strides: self.strides, ..x.clone() }
    }

    /// Whether it has as many elements as the whole: all of them, unless it repeats some.
    pub(crate) fn is_whole(&self) -> bool {
        self.shape.numel() == self.whole.numel()
    }
}
