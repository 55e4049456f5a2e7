//! Losses of classes, which lie along the last axis.

use super::{Reduction, reduced};
use cotangent_macros::{kernel, model};
use cotangent_runtime::Tensor;

/// The cross-entropy of logits and classes: `-log softmax(x)[y]` of each row.
///
/// `[.., C], Int [..] -> []`. A row whose target is `ignore_index` has no loss, and the mean is that of the other rows.
/// `label_smoothing` ε makes the target a distribution, `1 - ε` for the class and `ε / C` for each. Weights of classes make
/// the mean a weighted one. PyTorch's `nn.CrossEntropyLoss`, whose classes lie along axis 1; the smoothing is that of
/// Szegedy et al. (2016).
///
/// ```
/// use cotangent::prelude::*;
/// let loss = CrossEntropyLoss::init(&mut Rng::seed(0), &Device::cpu());
/// let logits = Tensor::zeros([2, 4], &Device::cpu());
/// let classes = Tensor::<Int>::from_slice(&[3, 1], [2], &Device::cpu());
/// assert!((loss.forward(logits, classes).item() - 4f32.ln()).abs() < 1e-6);
/// ```
#[model]
pub struct CrossEntropyLoss {
    /// The part of a target that is shared out among all classes, from 0 to 1.
    #[config(0.0)]
    pub label_smoothing: f64,
    /// The target of rows that do not count.
    #[config(-100)]
    pub ignore_index: i64,
    /// How the losses become one number.
    #[config(Reduction::Mean)]
    pub reduction: Reduction,
}

#[model]
impl CrossEntropyLoss {
    /// The losses as one number.
    pub fn forward(&self, input: Tensor![R.., C], target: Tensor![Int; R..]) -> Tensor![] {
        counted(self.forward_no_reduction(input, target), target, self.ignore_index, self.reduction)
    }

    /// The loss of each row.
    pub fn forward_no_reduction(&self, input: Tensor![R.., C], target: Tensor![Int; R..]) -> Tensor![R..] {
        let kept = target.ne(self.ignore_index);
        let each = rows_of_classes(input, target * kept.int(), self.label_smoothing);
        each.masked_fill(!kept, 0.0)
    }

    /// The losses as one number, with a weight for each class.
    pub fn forward_weighted(&self, input: Tensor![R.., C], target: Tensor![Int; R..], weight: Tensor![C]) -> Tensor![] {
        let each = self.forward_weighted_no_reduction(input, target, weight);
        over(each, weights_of_rows(target, weight.detach(), self.ignore_index), self.reduction)
    }

    /// The loss of each row, with a weight for each class.
    pub fn forward_weighted_no_reduction(
        &self,
        input: Tensor![R.., C],
        target: Tensor![Int; R..],
        weight: Tensor![C],
    ) -> Tensor![R..] {
        let kept = target.ne(self.ignore_index);
        let each = rows_of_weighted_classes(input, target * kept.int(), weight, self.label_smoothing);
        each.masked_fill(!kept, 0.0)
    }

    /// The losses as one number, where targets are distributions over the classes. The mean is over the rows.
    pub fn forward_probabilities(&self, input: Tensor![R.., C], target: Tensor![R.., C]) -> Tensor![] {
        reduced(self.forward_probabilities_no_reduction(input, target), self.reduction)
    }

    /// The loss of each row, where targets are distributions over the classes.
    pub fn forward_probabilities_no_reduction(&self, input: Tensor![R.., C], target: Tensor![R.., C]) -> Tensor![R..] {
        rows_of_probabilities(input, target, self.label_smoothing)
    }

    /// As [`forward_probabilities`](Self::forward_probabilities), with a weight for each class.
    pub fn forward_weighted_probabilities(
        &self,
        input: Tensor![R.., C],
        target: Tensor![R.., C],
        weight: Tensor![C],
    ) -> Tensor![] {
        reduced(rows_of_weighted_probabilities(input, target, weight, self.label_smoothing), self.reduction)
    }
}

/// Losses of rows as one number, the mean being that of the rows whose target counts.
#[model]
fn counted(each: Tensor![R..], target: Tensor![Int; R..], ignore: i64, reduction: Reduction) -> Tensor![] {
    let rows = target.ne(ignore).float();
    over(each, rows, reduction)
}

/// Losses of rows as one number, the mean being one by the rows' weights.
#[model]
fn over(each: Tensor![R..], weights: Tensor![R..], reduction: Reduction) -> Tensor![] {
    match reduction {
        Reduction::Mean => each.sum(..) / weights.sum(..),
        Reduction::Sum | Reduction::BatchMean => reduced(each, reduction),
    }
}

/// The weight of each row's class, 0 where the row does not count.
#[model]
fn weights_of_rows(target: Tensor![Int; R..], weight: Tensor![C], ignore: i64) -> Tensor![R..] {
    let kept = target.ne(ignore);
    picked_weights(target * kept.int(), weight).masked_fill(!kept, 0.0)
}

#[kernel]
fn picked_weights(target: Tensor![Int; R..], weight: Tensor![C]) -> Tensor![R..] {
    |r| weight[target[r]]
}

#[kernel]
fn rows_of_classes(x: Tensor![R.., C], target: Tensor![Int; R..], smoothing: f64) -> Tensor![R..] {
    |r| {
        let m = max(|j| x[r][j]);
        let size = log(sum(|j| exp(x[r][j] - m)));
        let class = (m - x[r][target[r]]) + size;
        let all = mean(|j| (m - x[r][j]) + size);
        if smoothing > 0.0 { (1.0 - smoothing) * class + smoothing * all } else { class }
    }
}

#[kernel]
fn rows_of_weighted_classes(
    x: Tensor![R.., C],
    target: Tensor![Int; R..],
    weight: Tensor![C],
    smoothing: f64,
) -> Tensor![R..] {
    |r| {
        let m = max(|j| x[r][j]);
        let size = log(sum(|j| exp(x[r][j] - m)));
        let class = weight[target[r]] * ((m - x[r][target[r]]) + size);
        let all = mean(|j| weight[j] * ((m - x[r][j]) + size));
        if smoothing > 0.0 { (1.0 - smoothing) * class + smoothing * all } else { class }
    }
}

#[kernel]
fn rows_of_probabilities(x: Tensor![R.., C], target: Tensor![R.., C], smoothing: f64) -> Tensor![R..] {
    |r| {
        let m = max(|j| x[r][j]);
        let size = log(sum(|j| exp(x[r][j] - m)));
        sum(|j| ((1.0 - smoothing) * target[r][j] + smoothing / C) * ((m - x[r][j]) + size))
    }
}

#[kernel]
fn rows_of_weighted_probabilities(
    x: Tensor![R.., C],
    target: Tensor![R.., C],
    weight: Tensor![C],
    smoothing: f64,
) -> Tensor![R..] {
    |r| {
        let m = max(|j| x[r][j]);
        let size = log(sum(|j| exp(x[r][j] - m)));
        sum(|j| weight[j] * ((1.0 - smoothing) * target[r][j] + smoothing / C) * ((m - x[r][j]) + size))
    }
}

/// The negative log-likelihood of classes: `-x[y]` of each row of log-probabilities.
///
/// `[.., C], Int [..] -> []`. A row whose target is `ignore_index` has no loss, and the mean is that of the other rows,
/// weighted where classes have weights. PyTorch's `nn.NLLLoss`, whose classes lie along axis 1.
#[model]
pub struct NllLoss {
    /// The target of rows that do not count.
    #[config(-100)]
    pub ignore_index: i64,
    /// How the losses become one number.
    #[config(Reduction::Mean)]
    pub reduction: Reduction,
}

#[model]
impl NllLoss {
    /// The losses as one number.
    pub fn forward(&self, input: Tensor![R.., C], target: Tensor![Int; R..]) -> Tensor![] {
        counted(self.forward_no_reduction(input, target), target, self.ignore_index, self.reduction)
    }

    /// The loss of each row.
    pub fn forward_no_reduction(&self, input: Tensor![R.., C], target: Tensor![Int; R..]) -> Tensor![R..] {
        let kept = target.ne(self.ignore_index);
        picked(input, target * kept.int()).masked_fill(!kept, 0.0)
    }

    /// The losses as one number, with a weight for each class.
    pub fn forward_weighted(&self, input: Tensor![R.., C], target: Tensor![Int; R..], weight: Tensor![C]) -> Tensor![] {
        let each = self.forward_weighted_no_reduction(input, target, weight);
        over(each, weights_of_rows(target, weight.detach(), self.ignore_index), self.reduction)
    }

    /// The loss of each row, with a weight for each class.
    pub fn forward_weighted_no_reduction(
        &self,
        input: Tensor![R.., C],
        target: Tensor![Int; R..],
        weight: Tensor![C],
    ) -> Tensor![R..] {
        self.forward_no_reduction(input, target) * weights_of_rows(target, weight, self.ignore_index)
    }
}

#[kernel]
fn picked(x: Tensor![R.., C], target: Tensor![Int; R..]) -> Tensor![R..] {
    |r| -x[r][target[r]]
}

/// The margin by which the class wins: the mean over the classes `j ≠ y` of `max(0, margin - x[y] + x[j])^p`, counted as
/// `1 / C` each.
///
/// `[.., C], Int [..] -> []`; a weight of the class is a factor. PyTorch's `nn.MultiMarginLoss`.
#[model]
pub struct MultiMarginLoss {
    /// The power, 1 or more.
    #[config(1.0)]
    pub p: f64,
    /// By how much the class should win.
    #[config(1.0)]
    pub margin: f64,
    /// How the losses become one number.
    #[config(Reduction::Mean)]
    pub reduction: Reduction,
}

#[model]
impl MultiMarginLoss {
    /// The losses as one number.
    pub fn forward(&self, input: Tensor![R.., C], target: Tensor![Int; R..]) -> Tensor![] {
        reduced(self.forward_no_reduction(input, target), self.reduction)
    }

    /// The loss of each row.
    pub fn forward_no_reduction(&self, input: Tensor![R.., C], target: Tensor![Int; R..]) -> Tensor![R..] {
        margins(input, target, self.p, self.margin)
    }

    /// The losses as one number, with a weight for each class.
    pub fn forward_weighted(&self, input: Tensor![R.., C], target: Tensor![Int; R..], weight: Tensor![C]) -> Tensor![] {
        let each = self.forward_no_reduction(input, target) * picked_weights(target, weight);
        reduced(each, self.reduction)
    }
}

#[kernel]
fn margins(x: Tensor![R.., C], target: Tensor![Int; R..], p: f64, margin: f64) -> Tensor![R..] {
    |r| {
        let class = x[r][target[r]];
        mean(|j| {
            let gap = margin - class + x[r][j];
            let counts = j != target[r] && gap > 0.0;
            let held = if counts { gap } else { 1.0 };
            if counts { pow(held, p) } else { 0.0 }
        })
    }
}
