//! Losses: what a prediction and a target differ by, with PyTorch's formulas.
//!
//! `forward` gives one number, by the loss's [`Reduction`]; `forward_no_reduction` the losses of which it is made. Shapes of
//! predictions and targets are equal, and classes lie along the last axis.

mod classes;
mod ctc;
mod distance;
mod elementwise;
mod truths;

pub use classes::*;
pub use ctc::*;
pub use distance::*;
pub use elementwise::*;
pub use truths::*;

use cotangent_macros::model;
use cotangent_runtime::Tensor;
use serde::{Deserialize, Serialize};

/// How losses become one number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reduction {
    /// Their mean; NaN where there are none.
    #[default]
    Mean,
    /// Their sum.
    Sum,
    /// Their sum over the extent of their first axis, the number of samples.
    BatchMean,
}

cotangent_runtime::setting!(Reduction);

/// Losses as one number.
#[model]
fn reduced(each: Tensor![R..], reduction: Reduction) -> Tensor![] {
    match reduction {
        Reduction::Mean => each.mean(..),
        Reduction::Sum => each.sum(..),
        Reduction::BatchMean => {
            let samples = each.shape().first().copied().unwrap_or(1);
            each.sum(..) / samples as f64
        }
    }
}
