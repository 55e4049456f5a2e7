//! What losses share: numbers of rows that are added up to one.

use super::fold;
use crate::tensor::{Dims, Tensor};
use cotangent_hal::DType;

/// How the parts of a loss become one number: their sum times a factor.
#[derive(Clone, Copy)]
pub(super) struct Total {
    factor: f64,
    rows: Dims,
}

impl Total {
    /// The sum of `parts` times `factor`, rounded once.
    pub(super) fn of(parts: &Tensor, factor: f64, dtype: DType) -> (Tensor, Total) {
        let y = fold::sum(&parts.raw, fold::all(parts.rank()), factor).cast(dtype);
        (Tensor::from_raw(y), Total { factor, rows: parts.raw.shape })
    }

    /// The cotangent of the parts, from that of their total.
    pub(super) fn pull(self, ct: Tensor) -> Tensor {
        // In 16 bits the factor alone may be below the smallest number.
        let dtype = ct.dtype().compute();
        Tensor::from_raw(fold::scale(ct.raw.cast(dtype), self.factor).expand_to("mean", &self.rows))
    }
}
