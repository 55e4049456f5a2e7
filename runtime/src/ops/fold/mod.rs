//! Folds along axes of a strided tensor, without copying it: sums, products, extremes.
//!
//! Axes that lie beside each other in memory are merged first. Then a trailing run is folded row by row, a run before
//! long trailing ones column by column; what remains is folded in the next round (`walk`). Partial results are in the
//! dtype that is computed in, so that a sum of 16-bit floats is rounded once. Rows are summed in blocks whose sums are
//! added in `f64`, and a few long rows are cut into many short ones, so that the error does not grow with the length and
//! all threads have work.

mod kernels;
mod rows;
mod search;
mod walk;

pub(crate) use kernels::*;
pub(crate) use rows::{any_rows, any_rows_of_both, from_rows, to_rows};
pub(crate) use search::{LARGEST, LARGEST_INT, SMALLEST, SMALLEST_INT, Search, blocks_of};

use super::elementwise::unary;
use crate::tensor::Raw;
use cotangent_hal::{DType, Kernel, Scalar};

cotangent_hal::kernel! {
    static SCALE = Pointwise "mean" (x: Each F32; k) -> (y: Each F32) |tile| {
        let k = Real::from(k);
        for i in 0..tile.1 {
            y[i] = k * x[i];
        }
    }
}

/// The operation's name where an error can only be a fault of this module.
const OP: &str = "fold";

/// Elements that are folded in one precision.
pub(crate) const BLOCK: usize = 4096;

/// What is done along the axes.
pub(crate) struct Fold {
    /// Folds rows.
    rows: &'static Kernel,
    /// Adds up rows column by column.
    columns: Option<&'static Kernel>,
    /// Folds two elements; taking one twice does no harm.
    pair: Option<&'static Kernel>,
    /// What folds the partial results; `None` where that is the fold itself, of which one element is its own fold.
    then: Option<&'static Fold>,
    /// The fold of nothing.
    empty: f64,
}

impl Fold {
    /// The dtype of results for elements of `dtype`, before they are rounded.
    fn out(&self, dtype: DType) -> DType {
        match self.rows.operands.last() {
            Some(out) if !out.dtype.is_float() => out.dtype,
            _ => dtype.compute(),
        }
    }

    /// The fold over the axes in `mask`, contiguous, without these axes; floats in the dtype that is computed in.
    ///
    /// `beside` is a value a row where the fold reads one, of the result's shape. `factor` is what a sum is multiplied
    /// by, `a` the number of the function of each element.
    pub(crate) fn of(&'static self, x: &Raw, beside: Option<&Raw>, mask: u8, factor: f64, a: f64) -> Raw {
        walk::fold(self, x, beside, mask, factor, a)
    }
}

/// The sum over the axes in `mask` times `k`, contiguous, without these axes.
pub(crate) fn sum(x: &Raw, mask: u8, k: f64) -> Raw {
    SUM.of(x, None, mask, k, 0.0).cast(x.dtype)
}

/// `k x`, in place where nothing else holds it.
pub(crate) fn scale(x: Raw, k: f64) -> Raw {
    unary(&SCALE, x, &[Scalar::Float(k)])
}

/// `x` summed to `shape`, a shape that broadcasts to that of `x`.
pub(crate) fn sum_to(x: Raw, shape: &[usize]) -> Raw {
    if *x.shape == *shape {
        return x;
    }
    let added = x.shape.len() - shape.len();
    let mut mask = 0;
    for (i, &extent) in x.shape.iter().enumerate() {
        if i < added || (shape[i - added] == 1 && extent != 1) {
            mask |= 1 << i;
        }
    }
    sum(&x, mask, 1.0).reinterpret(shape)
}

/// The mask of all axes.
pub(crate) fn all(rank: usize) -> u8 {
    ((1u16 << rank) - 1) as u8
}
