//! Losses of yes or no.

use super::{Reduction, reduced};
use cotangent_macros::{kernel, model};
use cotangent_runtime::Tensor;

/// The cross-entropy of probabilities `x` and targets `y` from 0 to 1: `-(y log x + (1 - y) log(1 - x))`.
///
/// Logarithms are held at -100, and the divisor `x (1 - x)` of the gradient at 1e-12, so that certain mistakes have a
/// finite loss. [`BceWithLogitsLoss`] loses no digits. PyTorch's `nn.BCELoss`.
#[model]
pub struct BceLoss {
    /// How the losses become one number.
    #[config(Reduction::Mean)]
    pub reduction: Reduction,
}

#[model]
impl BceLoss {
    /// The losses as one number.
    pub fn forward(&self, input: Tensor![R..], target: Tensor![R..]) -> Tensor![] {
        reduced(self.forward_no_reduction(input, target), self.reduction)
    }

    /// The losses as one number, each times its weight; the mean is over the number of losses.
    pub fn forward_weighted(&self, input: Tensor![R..], target: Tensor![R..], weight: Tensor![R..]) -> Tensor![] {
        reduced(self.forward_no_reduction(input, target) * weight, self.reduction)
    }

    /// The loss of each element.
    pub fn forward_no_reduction(&self, input: Tensor![R..], target: Tensor![R..]) -> Tensor![R..] {
        binary(input, target)
    }
}

#[kernel(vjp = binary_slopes(x, y, ct))]
fn binary(x: Tensor![R..], y: Tensor![R..]) -> Tensor![R..] {
    |r| {
        let (yes, no) = (maximum(log(x[r]), -100.0), maximum(log1p(-x[r]), -100.0));
        (y[r] - 1.0) * no - y[r] * yes
    }
}

#[kernel]
fn binary_slopes(x: Tensor![R..], y: Tensor![R..], ct: Tensor![R..]) -> (Tensor![R..], Tensor![R..]) {
    |r| {
        let (yes, no) = (maximum(log(x[r]), -100.0), maximum(log1p(-x[r]), -100.0));
        (ct[r] * (x[r] - y[r]) / maximum(x[r] * (1.0 - x[r]), 1e-12), ct[r] * (no - yes))
    }
}

/// The cross-entropy of logits `x` and targets `y` from 0 to 1: that of [`BceLoss`] for the probability `1 / (1 + e^-x)`,
/// without its loss of digits. PyTorch's `nn.BCEWithLogitsLoss`.
///
/// ```
/// use cotangent::prelude::*;
/// let loss = BceWithLogitsLoss::init(&mut Rng::seed(0), &Device::cpu());
/// let (x, y) = (Tensor::zeros([3], &Device::cpu()), Tensor::ones([3], &Device::cpu()));
/// assert_eq!(loss.forward(x, y).item(), std::f32::consts::LN_2);
/// ```
#[model]
pub struct BceWithLogitsLoss {
    /// How the losses become one number.
    #[config(Reduction::Mean)]
    pub reduction: Reduction,
}

#[model]
impl BceWithLogitsLoss {
    /// The losses as one number.
    pub fn forward(&self, input: Tensor![R..], target: Tensor![R..]) -> Tensor![] {
        reduced(self.forward_no_reduction(input, target), self.reduction)
    }

    /// The losses as one number: `weight` is a factor of each, `pos_weight` one of the part with `y`, which makes misses
    /// of a rare class dearer. The mean is over the number of losses.
    pub fn forward_weighted(
        &self,
        input: Tensor![R.., C],
        target: Tensor![R.., C],
        weight: Tensor![R.., C],
        pos_weight: Tensor![C],
    ) -> Tensor![] {
        reduced(binary_of_logits_weighted(input, target, pos_weight) * weight, self.reduction)
    }

    /// The loss of each element.
    pub fn forward_no_reduction(&self, input: Tensor![R..], target: Tensor![R..]) -> Tensor![R..] {
        binary_of_logits(input, target)
    }
}

#[kernel]
fn binary_of_logits(x: Tensor![R..], y: Tensor![R..]) -> Tensor![R..] {
    |r| (1.0 - y[r]) * x[r] - logsigmoid(x[r])
}

#[kernel]
fn binary_of_logits_weighted(x: Tensor![R.., C], y: Tensor![R.., C], pos_weight: Tensor![C]) -> Tensor![R.., C] {
    |r, i| (1.0 - y[r][i]) * x[r][i] - (1.0 + (pos_weight[i] - 1.0) * y[r][i]) * logsigmoid(x[r][i])
}
