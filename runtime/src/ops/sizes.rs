//! Sizes along the axes of a window, and the zeros around what it moves over.

use crate::diff::Diff;
use crate::raise::raise;
use crate::tensor::Extent;
use cotangent_hal::Error;

/// What sizes along `N` axes can be written as: one number for all, or an array of `N`.
pub trait Sizes<const N: usize> {
    /// The sizes; raises where one is negative.
    #[doc(hidden)]
    #[track_caller]
    fn sizes(self, op: &str, what: &str) -> [usize; N];
}

impl<T: Extent, const N: usize> Sizes<N> for T {
    fn sizes(self, op: &str, what: &str) -> [usize; N] {
        [size(op, what, self); N]
    }
}

impl<T: Extent, const N: usize> Sizes<N> for [T; N] {
    fn sizes(self, op: &str, what: &str) -> [usize; N] {
        self.map(|n| size(op, what, n))
    }
}

#[track_caller]
fn size<T: Extent>(op: &str, what: &str, n: T) -> usize {
    match usize::try_from(n.extent()) {
        Ok(n) => n,
        Err(_) => {
            let message = format!("the {what} is {}, expected at least 0", n.extent());
            raise(Error::Argument { op: op.into(), message })
        }
    }
}

/// The zeros around the images of a convolution, where they follow from the filters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Padding {
    /// None.
    Valid,
    /// As many as keep the extents with a stride of 1; where their number is odd, one more behind than before.
    Same,
}

impl Diff for Padding {
    type Ct = ();
}

/// What the padding of a convolution along `N` axes can be written as: [`Sizes`], or a [`Padding`].
pub trait IntoPadding<const N: usize> {
    /// The zeros before and behind along each axis, given the extents that filters reach over and their strides.
    #[doc(hidden)]
    #[track_caller]
    fn zeros(self, op: &str, reach: [usize; N], stride: [usize; N]) -> [[usize; 2]; N];
}

impl<T: Sizes<N>, const N: usize> IntoPadding<N> for T {
    fn zeros(self, op: &str, _: [usize; N], _: [usize; N]) -> [[usize; 2]; N] {
        self.sizes(op, "padding").map(|n| [n; 2])
    }
}

impl<const N: usize> IntoPadding<N> for Padding {
    fn zeros(self, op: &str, reach: [usize; N], stride: [usize; N]) -> [[usize; 2]; N] {
        if self == Padding::Valid {
            return [[0; 2]; N];
        }
        if stride != [1; N] {
            let message = format!("the stride is {stride:?}, but the extents stay the same only with a stride of 1");
            raise(Error::Argument { op: op.into(), message })
        }
        reach.map(|n| {
            let zeros = n.saturating_sub(1);
            [zeros / 2, zeros - zeros / 2]
        })
    }
}
