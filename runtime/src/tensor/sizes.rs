//! What users write where a shape or axes are expected: integers, arrays, slices, vectors, `..`.

use super::dims::{Dims, MAX_RANK, PerAxis};
use crate::raise::raise;
use cotangent_hal::Error;
use std::ops::RangeFull;

/// An integer that can be an extent or an axis: `usize`, `i64`, `i32`, `isize`.
pub trait Extent: Copy {
    /// The number; what does not fit becomes the largest.
    fn extent(self) -> i64;
}

macro_rules! extents {
    ($($t:ty),*) => { $(
        impl Extent for $t {
            fn extent(self) -> i64 {
                i64::try_from(self).unwrap_or(i64::MAX)
            }
        }
    )* };
}
extents!(usize, i64, i32, isize);

/// A shape as it was written: -1 may stand for the extent that the number of elements gives.
///
/// Numbers past the eighth are only counted, so that the error can say how many there were.
#[derive(Clone, Copy, Debug)]
pub struct Extents {
    given: usize,
    at: PerAxis<i64>,
}

impl Extents {
    /// Those of a slice.
    pub fn of<T: Extent>(values: &[T]) -> Extents {
        let mut at = PerAxis::repeat("shape", 0, values.len().min(MAX_RANK));
        for (to, from) in at.iter_mut().zip(values) {
            *to = from.extent();
        }
        Extents { given: values.len(), at }
    }

    /// The numbers as they were written, of which there are at most [`MAX_RANK`].
    pub(crate) fn written(&self) -> &[i64] {
        &self.at
    }

    #[track_caller]
    fn at_most_max_rank(&self, op: &str) {
        if self.given > MAX_RANK {
            raise(Error::Shape {
                op: op.into(),
                message: format!("{} axes, but a tensor has at most {MAX_RANK}", self.given),
            });
        }
    }

    /// The shape, where every extent must be given; raises for a negative one.
    #[track_caller]
    pub fn all(&self, op: &str) -> Dims {
        self.at_most_max_rank(op);
        let mut out = Dims::repeat(op, 0, self.at.len());
        for (axis, (to, &from)) in out.iter_mut().zip(&*self.at).enumerate() {
            match usize::try_from(from) {
                Ok(extent) => *to = extent,
                Err(_) => raise(Error::Shape {
                    op: op.into(),
                    message: format!("axis {axis} of {:?} is {from}, expected an extent of at least 0", self.at),
                }),
            }
        }
        out
    }

    /// The shape of `from.numel()` elements, one -1 worked out; raises where there is none, naming both shapes.
    #[track_caller]
    pub fn for_elements_of(&self, op: &str, from: &Dims) -> Dims {
        self.at_most_max_rank(op);
        let numel = from.numel();
        let (mut known, mut open) = (Some(1usize), None);
        let mut out = Dims::repeat(op, 0, self.at.len());
        for (axis, &extent) in self.at.iter().enumerate() {
            if extent == -1 && open.is_none() {
                open = Some(axis);
            } else if let Ok(extent) = usize::try_from(extent) {
                out[axis] = extent;
                known = known.and_then(|k| k.checked_mul(extent));
            } else {
                raise(Error::Shape {
                    op: op.into(),
                    message: format!(
                        "axis {axis} of {:?} is {extent}, expected an extent of at least 0 or a single -1",
                        self.at
                    ),
                });
            }
        }
        let fits = match (open, known) {
            (None, Some(known)) => known == numel,
            (Some(axis), Some(known)) if known > 0 && numel.is_multiple_of(known) => {
                out[axis] = numel / known;
                true
            }
            (_, _) => false,
        };
        if !fits {
            raise(Error::Shape {
                op: op.into(),
                message: format!("{from:?} has {numel} elements, which do not fill {:?}", self.at),
            });
        }
        out
    }

    /// The shape that `from` expands to, -1 keeping an extent of `from`; raises where there is nothing to keep.
    #[track_caller]
    pub fn for_expanding(&self, op: &str, from: &Dims) -> Dims {
        self.at_most_max_rank(op);
        let mut out = Dims::repeat(op, 0, self.at.len());
        for (axis, &extent) in self.at.iter().enumerate() {
            let kept = (axis + from.len()).checked_sub(self.at.len()).map(|a| from[a]);
            out[axis] = match (usize::try_from(extent), kept) {
                (Ok(extent), _) => extent,
                (Err(_), Some(kept)) if extent == -1 => kept,
                (Err(_), _) => raise(Error::Shape {
                    op: op.into(),
                    message: format!(
                        "axis {axis} of {:?} is {extent}, expected an extent of at least 0, or -1 for an axis of {from:?}",
                        self.at
                    ),
                }),
            };
        }
        out
    }
}

/// What a shape can be written as: `[2, 3]`, a slice, a `Vec`, one number for a single axis, `()` for a scalar.
pub trait IntoShape {
    /// The shape as it was written.
    fn into_shape(self) -> Extents;
}

impl IntoShape for Extents {
    fn into_shape(self) -> Extents {
        self
    }
}
impl IntoShape for () {
    fn into_shape(self) -> Extents {
        Extents::of::<usize>(&[])
    }
}
impl<T: Extent, const N: usize> IntoShape for [T; N] {
    fn into_shape(self) -> Extents {
        Extents::of(&self)
    }
}
impl<T: Extent, const N: usize> IntoShape for &[T; N] {
    fn into_shape(self) -> Extents {
        Extents::of(self)
    }
}
impl<T: Extent> IntoShape for &[T] {
    fn into_shape(self) -> Extents {
        Extents::of(self)
    }
}
impl<T: Extent> IntoShape for Vec<T> {
    fn into_shape(self) -> Extents {
        Extents::of(&self)
    }
}
impl<T: Extent> IntoShape for &Vec<T> {
    fn into_shape(self) -> Extents {
        Extents::of(self)
    }
}
impl IntoShape for Dims {
    fn into_shape(self) -> Extents {
        Extents::of(&self)
    }
}
impl IntoShape for &Dims {
    fn into_shape(self) -> Extents {
        Extents::of(self)
    }
}

/// Axes as they were written: a list, negative from the end, or all of them.
#[derive(Clone, Copy, Debug)]
pub struct Axes(Option<Extents>);

impl Axes {
    /// Whether they were written as `..`.
    pub(crate) fn is_all(&self) -> bool {
        self.0.is_none()
    }

    /// The axes in the order given, counted from 0; raises for an axis that `shape` does not have or that is named twice.
    #[track_caller]
    pub fn resolve(&self, op: &str, shape: &[usize]) -> Dims {
        let Some(axes) = &self.0 else {
            let mut all = Dims::repeat(op, 0, shape.len());
            all.iter_mut().enumerate().for_each(|(axis, to)| *to = axis);
            return all;
        };
        axes.at_most_max_rank(op);
        let mut out = Dims::new();
        for &axis in &*axes.at {
            let axis = axis_of(op, axis as isize, shape);
            if out.contains(&axis) {
                raise(Error::Argument {
                    op: op.into(),
                    message: format!("axis {axis} of {shape:?} is named twice in {:?}", axes.at),
                });
            }
            out.push(op, axis);
        }
        out
    }
}

/// What axes can be written as: an integer, an array, slice or `Vec` of integers, or `..` for all axes.
pub trait IntoAxes {
    /// The axes as they were written.
    fn into_axes(self) -> Axes;
}

impl IntoAxes for Axes {
    fn into_axes(self) -> Axes {
        self
    }
}
impl IntoAxes for RangeFull {
    fn into_axes(self) -> Axes {
        Axes(None)
    }
}
impl<T: Extent, const N: usize> IntoAxes for [T; N] {
    fn into_axes(self) -> Axes {
        Axes(Some(Extents::of(&self)))
    }
}
impl<T: Extent, const N: usize> IntoAxes for &[T; N] {
    fn into_axes(self) -> Axes {
        Axes(Some(Extents::of(self)))
    }
}
impl<T: Extent> IntoAxes for &[T] {
    fn into_axes(self) -> Axes {
        Axes(Some(Extents::of(self)))
    }
}
impl<T: Extent> IntoAxes for Vec<T> {
    fn into_axes(self) -> Axes {
        Axes(Some(Extents::of(&self)))
    }
}
impl<T: Extent> IntoAxes for &Vec<T> {
    fn into_axes(self) -> Axes {
        Axes(Some(Extents::of(self)))
    }
}

macro_rules! single {
    ($($t:ty),*) => { $(
        impl IntoShape for $t {
            fn into_shape(self) -> Extents {
                Extents::of(&[self])
            }
        }
        impl IntoAxes for $t {
            fn into_axes(self) -> Axes {
                Axes(Some(Extents::of(&[self])))
            }
        }
    )* };
}
single!(usize, i64, i32, isize);

/// The axis counted from 0; raises where `shape` does not have it.
#[track_caller]
pub(crate) fn axis_of(op: &str, axis: isize, shape: &[usize]) -> usize {
    match axis_below(axis, shape.len()) {
        Some(axis) => axis,
        None => no_such_axis(op, axis, shape),
    }
}

/// The place counted from 0 among `rank`, or `None` where there is none.
pub(crate) fn axis_below(axis: isize, rank: usize) -> Option<usize> {
    let from_start = if axis < 0 { axis.checked_add(rank as isize)? } else { axis };
    usize::try_from(from_start).ok().filter(|&a| a < rank)
}

#[cold]
#[track_caller]
fn no_such_axis(op: &str, axis: isize, shape: &[usize]) -> ! {
    let rank = shape.len() as isize;
    let message = if rank == 0 {
        format!("axis {axis} was given, but a scalar has no axes")
    } else {
        format!("axis {axis} was given, but {shape:?} has the axes {} to {}", -rank, rank - 1)
    };
    raise(Error::Argument { op: op.into(), message })
}
