//! An axis as that of the rows.

use crate::diff::{Pullback, pull};
use crate::tensor::{Kind, Raw, Tensor, axis_of};
use cotangent_hal::DType;

/// How an axis becomes that of the rows, and back: the last one and it change places. A scalar is a row of its own.
#[derive(Clone, Copy)]
pub(super) enum Turn {
    /// A scalar.
    Scalar,
    /// The axis.
    Swap(usize),
}

impl Turn {
    /// That of an axis as it was written; raises where `shape` does not have it.
    #[track_caller]
    pub(super) fn of(op: &str, shape: &[usize], axis: isize) -> Turn {
        match shape {
            [] if axis == 0 || axis == -1 => Turn::Scalar,
            _ => Turn::Swap(axis_of(op, axis, shape)),
        }
    }

    /// The tensor with the axis at the end, as a view.
    pub(super) fn to_rows(self, x: Raw) -> Raw {
        match self {
            Turn::Scalar => x.reinterpret(&[1]),
            Turn::Swap(axis) => {
                let last = x.shape.len() - 1;
                x.swap_axes(axis, last)
            }
        }
    }

    /// The inverse of [`to_rows`](Turn::to_rows).
    pub(super) fn back(self, x: Raw) -> Raw {
        match self {
            Turn::Scalar => x.reinterpret(&[]),
            Turn::Swap(_) => self.to_rows(x),
        }
    }

    /// How many elements a row of a tensor has.
    pub(super) fn extent(self, x: &Raw) -> usize {
        match self {
            Turn::Scalar => 1,
            Turn::Swap(axis) => x.shape[axis],
        }
    }

    /// A new row-major tensor whose rows, as they are seen here, have the shape `rows`.
    #[track_caller]
    pub(super) fn empty(self, like: &Raw, dtype: DType, rows: &[usize]) -> Raw {
        let Turn::Swap(axis) = self else { return Raw::empty(&like.device, dtype, rows) };
        let (mut shape, last) = (rows.to_vec(), rows.len() - 1);
        shape.swap(axis, last);
        self.to_rows(Raw::empty(&like.device, dtype, &shape))
    }

    /// The pullback of a function of rows as one along the axis.
    pub(super) fn pullback<P>(self, of_rows: P) -> impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, ())>
    where
        P: Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>,)>,
    {
        pull(move |ct: Option<Tensor>, (): &mut ()| {
            let (dx,) = of_rows.pull(ct.map(|ct| self.rows(ct)), &mut ());
            (dx.map(|dx| self.tensor(dx)), ())
        })
    }

    /// As [`to_rows`](Turn::to_rows), of a typed tensor.
    pub(super) fn rows<K: Kind>(self, x: Tensor<K>) -> Tensor<K> {
        Tensor::from_raw(self.to_rows(x.raw))
    }

    /// As [`back`](Turn::back), of a typed tensor.
    pub(super) fn tensor<K: Kind>(self, x: Tensor<K>) -> Tensor<K> {
        Tensor::from_raw(self.back(x.raw))
    }
}
