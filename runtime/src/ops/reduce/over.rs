//! The axes of a reduction, and its operand's and result's shapes.

use crate::raise::raise;
use crate::tensor::{Axes, Dims, Raw, Strides};
use cotangent_hal::Error;

/// Over which axes a reduction goes.
#[derive(Clone, Copy)]
pub(super) struct Over {
    /// The operand's shape.
    pub(super) shape: Dims,
    /// Bit `i` for axis `i`.
    pub(super) mask: u8,
    pub(super) keepdim: bool,
}

impl Over {
    #[track_caller]
    pub(super) fn new(op: &str, shape: Dims, axes: Axes, keepdim: bool) -> Over {
        let mask = axes.resolve(op, &shape).iter().fold(0, |mask, &axis| mask | 1 << axis);
        Over { shape, mask, keepdim }
    }

    pub(super) fn has(&self, axis: usize) -> bool {
        self.mask >> axis & 1 == 1
    }

    /// The number of elements that make one of the result.
    pub(super) fn count(&self) -> usize {
        (0..self.shape.len()).filter(|&i| self.has(i)).map(|i| self.shape[i]).product()
    }

    /// A result without the axes, with them as extents of 1 where they are to be kept.
    pub(super) fn finish(&self, y: Raw) -> Raw {
        if !self.keepdim {
            return y;
        }
        let mut kept = self.shape;
        for axis in 0..kept.len() {
            if self.has(axis) {
                kept[axis] = 1;
            }
        }
        y.reinterpret(&kept)
    }

    /// A view of a cotangent of the result without the axes that were kept as extents of 1.
    pub(super) fn dropped(&self, ct: &Raw) -> Raw {
        if !self.keepdim {
            return ct.clone();
        }
        let (mut shape, mut strides) = (Dims::new(), Strides::new());
        for axis in (0..self.shape.len()).filter(|&axis| !self.has(axis)) {
            shape.push("sum", ct.shape[axis]);
            strides.push("sum", ct.strides[axis]);
        }
        Raw { shape, strides, ..ct.clone() }
    }

    /// A cotangent of the result repeated along the axes: a view of the operand's shape.
    pub(super) fn spread(&self, ct: &Raw) -> Raw {
        self.repeat(&self.dropped(ct))
    }

    /// A value a row, without the axes, repeated along them: a view of the operand's shape.
    pub(super) fn repeat(&self, value: &Raw) -> Raw {
        let mut strides = Strides::repeat("sum", 0, self.shape.len());
        let kept = (0..self.shape.len()).filter(|&axis| !self.has(axis));
        for (axis, &stride) in kept.zip(&*value.strides) {
            strides[axis] = stride;
        }
        Raw { shape: self.shape, strides, ..value.clone() }
    }

    /// Raises where an axis is empty, for an operation of which nothing has no result.
    #[track_caller]
    pub(super) fn not_empty(&self, op: &str) {
        if let Some(axis) = (0..self.shape.len()).find(|&axis| self.has(axis) && self.shape[axis] == 0) {
            let message = format!("axis {axis} of {:?} is empty, and no elements have no {op}", self.shape);
            raise(Error::Shape { op: op.into(), message });
        }
    }
}
