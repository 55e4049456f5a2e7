//! Sequences of labels without their places in time.

use super::{Reduction, reduced};
use cotangent_macros::model;
use cotangent_runtime::Tensor;

/// Connectionist temporal classification: the negative logarithm of the probability of the labels in any alignment.
///
/// Log-probabilities `[T, N, C]`, labels `Int [N, S]`, and for each sample how many times and labels count, `Int [N]` each;
/// the losses are `[N]`. The mean is that of each loss over its number of labels. PyTorch's `nn.CTCLoss`; the method is that
/// of Graves et al. (2006).
///
/// ```
/// use cotangent::prelude::*;
/// let (device, loss) = (Device::cpu(), CtcLoss::init(&mut Rng::seed(0), &Device::cpu()));
/// let x = Tensor::zeros([2, 1, 3], &device).log_softmax(-1);
/// let ints = |values: &[i64], shape: &[usize]| Tensor::<Int>::from_slice(values, shape, &device);
/// // `1 1`, `1 _` and `_ 1`: three of nine ways.
/// let y = loss.forward(x, ints(&[1], &[1, 1]), ints(&[2], &[1]), ints(&[1], &[1]));
/// assert!((y.item() - 3f32.ln()).abs() < 1e-6);
/// ```
#[model]
pub struct CtcLoss {
    /// The class between labels.
    #[config(0)]
    pub blank: usize,
    /// Whether infinite losses, those of samples with more labels than times, count as 0 and have no gradient.
    #[config(false)]
    pub zero_infinity: bool,
    /// How the losses become one number.
    #[config(Reduction::Mean)]
    pub reduction: Reduction,
}

#[model]
impl CtcLoss {
    /// The losses as one number.
    pub fn forward(
        &self,
        log_probs: Tensor![T, N, C],
        targets: Tensor![Int; N, S],
        input_lengths: Tensor![Int; N],
        target_lengths: Tensor![Int; N],
    ) -> Tensor![] {
        let each = self.forward_no_reduction(log_probs, targets, input_lengths, target_lengths);
        by_length(each, target_lengths, self.reduction)
    }

    /// As [`forward`](Self::forward), the labels of all samples one after another.
    pub fn forward_concatenated(
        &self,
        log_probs: Tensor![T, N, C],
        targets: Tensor![Int; L],
        input_lengths: Tensor![Int; N],
        target_lengths: Tensor![Int; N],
    ) -> Tensor![] {
        let each = log_probs.ctc_loss(targets, input_lengths, target_lengths, self.blank);
        by_length(finite(each, self.zero_infinity), target_lengths, self.reduction)
    }

    /// The loss of each sample.
    pub fn forward_no_reduction(
        &self,
        log_probs: Tensor![T, N, C],
        targets: Tensor![Int; N, S],
        input_lengths: Tensor![Int; N],
        target_lengths: Tensor![Int; N],
    ) -> Tensor![N] {
        let each = log_probs.ctc_loss(targets, input_lengths, target_lengths, self.blank);
        finite(each, self.zero_infinity)
    }
}

/// Losses with 0 for those that are infinite, where asked for.
#[model]
fn finite(each: Tensor![N], zero_infinity: bool) -> Tensor![N] {
    let infinite = each.eq(f64::INFINITY);
    if zero_infinity { each.masked_fill(infinite, 0.0) } else { each }
}

/// Losses as one number, the mean being that of the losses of single labels.
#[model]
fn by_length(each: Tensor![N], lengths: Tensor![Int; N], reduction: Reduction) -> Tensor![] {
    match reduction {
        Reduction::Mean => (each / lengths.float().maximum(1.0)).mean(..),
        Reduction::Sum | Reduction::BatchMean => reduced(each, reduction),
    }
}
