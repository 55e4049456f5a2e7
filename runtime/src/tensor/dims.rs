//! Extents and strides as inline arrays: making a view allocates nothing.

use crate::raise::raise;
use cotangent_hal::Error;
use std::fmt;
use std::ops::{Deref, DerefMut};

/// The largest rank of a tensor.
pub const MAX_RANK: usize = 8;

/// Up to [`MAX_RANK`] numbers, one an axis, outermost first.
#[derive(Clone, Copy)]
pub struct PerAxis<T> {
    len: u8,
    at: [T; MAX_RANK],
}

/// The extents of a tensor, or a list of its axes.
pub type Dims = PerAxis<usize>;

/// The distances of neighbours along each axis, in elements.
pub type Strides = PerAxis<isize>;

impl<T: Copy + Default> PerAxis<T> {
    /// No axes: a scalar.
    pub fn new() -> Self {
        PerAxis { len: 0, at: [T::default(); MAX_RANK] }
    }

    /// A copy of `values`; raises for more than [`MAX_RANK`] of them.
    #[track_caller]
    pub fn of(op: &str, values: &[T]) -> Self {
        if values.len() > MAX_RANK {
            too_many_axes(op, values.len());
        }
        let mut out = PerAxis { len: values.len() as u8, at: [T::default(); MAX_RANK] };
        out.at[..values.len()].copy_from_slice(values);
        out
    }

    /// `len` times `value`; raises for more than [`MAX_RANK`].
    #[track_caller]
    pub fn repeat(op: &str, value: T, len: usize) -> Self {
        if len > MAX_RANK {
            too_many_axes(op, len);
        }
        PerAxis { len: len as u8, at: [value; MAX_RANK] }
    }

    /// Appends an axis inside all others; raises when there are [`MAX_RANK`] already.
    #[track_caller]
    pub fn push(&mut self, op: &str, value: T) {
        self.insert(op, self.len(), value);
    }

    /// Puts an axis before axis `at`; raises when there are [`MAX_RANK`] already.
    #[track_caller]
    pub fn insert(&mut self, op: &str, at: usize, value: T) {
        let len = self.len();
        if len == MAX_RANK {
            too_many_axes(op, len + 1);
        }
        self.at.copy_within(at..len, at + 1);
        self.at[at] = value;
        self.len += 1;
    }

    /// Takes out axis `at`, which must exist.
    pub fn remove(&mut self, at: usize) -> T {
        let (len, value) = (self.len(), self[at]);
        self.at.copy_within(at + 1..len, at);
        self.len -= 1;
        value
    }
}

#[cold]
#[track_caller]
fn too_many_axes(op: &str, given: usize) -> ! {
    raise(Error::Shape { op: op.into(), message: format!("{given} axes, but a tensor has at most {MAX_RANK}") })
}

impl Dims {
    /// The number of elements: the product of the extents.
    pub fn numel(&self) -> usize {
        self.iter().product()
    }

    /// The strides of a row-major tensor of these extents.
    pub fn row_major(&self) -> Strides {
        let mut out = Strides { len: self.len, at: [0; MAX_RANK] };
        let mut step = 1isize;
        for (stride, &extent) in out.iter_mut().zip(self.iter()).rev() {
            *stride = step;
            step = step.wrapping_mul(extent as isize);
        }
        out
    }
}

/// The shape that both shapes broadcast to: aligned at the last axis, extents equal or one of them 1.
///
/// Raises where they do not fit, naming `op`, the axis and both shapes.
#[track_caller]
pub(crate) fn broadcast(op: &str, a: &[usize], b: &[usize]) -> Dims {
    match try_broadcast(a, b) {
        Ok(shape) => shape,
        Err(axis) => {
            let at = |shape: &[usize]| shape[(shape.len() as isize + axis) as usize];
            let message = format!(
                "{a:?} and {b:?} do not broadcast: axis {axis} is {} on the left and {} on the right",
                at(a),
                at(b)
            );
            raise(Error::Shape { op: op.into(), message })
        }
    }
}

/// The shape that all of these broadcast to, as [`broadcast`] of two.
#[track_caller]
pub(crate) fn broadcast_all<'a>(op: &str, shapes: impl IntoIterator<Item = &'a Dims>) -> Dims {
    // A closure would lose the caller's line.
    let mut all = Dims::new();
    for shape in shapes {
        all = broadcast(op, &all, shape);
    }
    all
}

/// As [`broadcast`], or the axis, counted from the end, along which the shapes differ.
pub(crate) fn try_broadcast(a: &[usize], b: &[usize]) -> Result<Dims, isize> {
    let (long, short) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    let mut out = Dims::of("broadcast", long);
    let lead = long.len() - short.len();
    for (axis, &extent) in short.iter().enumerate() {
        let here = &mut out[lead + axis];
        if *here == 1 {
            *here = extent;
        } else if extent != 1 && extent != *here {
            return Err(axis as isize - short.len() as isize);
        }
    }
    Ok(out)
}

impl<T> Deref for PerAxis<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.at[..self.len as usize]
    }
}

impl<T> DerefMut for PerAxis<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.at[..self.len as usize]
    }
}

impl<T: Copy + Default> Default for PerAxis<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: PartialEq> PartialEq for PerAxis<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Eq> Eq for PerAxis<T> {}

impl<T: fmt::Debug> fmt::Debug for PerAxis<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
