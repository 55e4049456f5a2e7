//! The linear parts of reverse mode: cotangents added up, and summed back onto operands that were broadcast.

use super::arith::add;
use super::elementwise::binary;
use super::fold;
use crate::tensor::Tensor;

/// `a + b` of two cotangents of one tensor, in place where either has a buffer of its own.
#[track_caller]
pub(crate) fn add_ct(a: Tensor, b: Tensor) -> Tensor {
    debug_assert_eq!(a.shape(), b.shape(), "cotangents of one tensor have its shape");
    Tensor::from_raw(binary(add::FLOATS.forward, a.raw, b.raw, &[]))
}

/// Sums a cotangent of a broadcast result back to the shape of the operand: over leading axes that `shape` lacks, and
/// over axes of extent 1 in `shape`. Itself where the shapes are equal.
#[track_caller]
pub(crate) fn sum_to(ct: Tensor, shape: &[usize]) -> Tensor {
    Tensor::from_raw(fold::sum_to(ct.raw, shape))
}
