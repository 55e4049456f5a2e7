//! Losses of distances between rows.

use super::{Reduction, reduced};
use cotangent_macros::{kernel, model};
use cotangent_runtime::Tensor;

/// The order of two scores: `max(0, -y (a - b) + margin)`, where `y` is 1 if `a` should be larger and -1 if `b` should.
/// `[..], [..], [..] -> []`. PyTorch's `nn.MarginRankingLoss`.
#[model]
pub struct MarginRankingLoss {
    /// By how much the better score should be larger.
    #[config(0.0)]
    pub margin: f64,
    /// How the losses become one number.
    #[config(Reduction::Mean)]
    pub reduction: Reduction,
}

#[model]
impl MarginRankingLoss {
    /// The losses as one number.
    pub fn forward(&self, a: Tensor![R..], b: Tensor![R..], target: Tensor![R..]) -> Tensor![] {
        reduced(self.forward_no_reduction(a, b, target), self.reduction)
    }

    /// The loss of each pair.
    pub fn forward_no_reduction(&self, a: Tensor![R..], b: Tensor![R..], target: Tensor![R..]) -> Tensor![R..] {
        ranking(a, b, target, self.margin)
    }
}

#[kernel]
fn ranking(a: Tensor![R..], b: Tensor![R..], y: Tensor![R..], margin: f64) -> Tensor![R..] {
    |r| {
        let gap = margin - y[r] * (a[r] - b[r]);
        if gap < 0.0 { 0.0 } else { gap }
    }
}

/// The angle between rows: `1 - cos(a, b)` where the target is 1, `max(0, cos(a, b) - margin)` where it is -1.
/// `[.., C], [.., C], [..] -> []`. PyTorch's `nn.CosineEmbeddingLoss`.
#[model]
pub struct CosineEmbeddingLoss {
    /// The cosine down to which dissimilar pairs have a loss, from -1 to 1.
    #[config(0.0)]
    pub margin: f64,
    /// How the losses become one number.
    #[config(Reduction::Mean)]
    pub reduction: Reduction,
}

#[model]
impl CosineEmbeddingLoss {
    /// The losses as one number.
    pub fn forward(&self, a: Tensor![R.., C], b: Tensor![R.., C], target: Tensor![R..]) -> Tensor![] {
        reduced(self.forward_no_reduction(a, b, target), self.reduction)
    }

    /// The loss of each pair of rows.
    pub fn forward_no_reduction(&self, a: Tensor![R.., C], b: Tensor![R.., C], target: Tensor![R..]) -> Tensor![R..] {
        cosine(a, b, target, self.margin)
    }
}

#[kernel]
fn cosine(a: Tensor![R.., C], b: Tensor![R.., C], y: Tensor![R..], margin: f64) -> Tensor![R..] {
    |r| {
        let (aa, bb) = (sum(|j| a[r][j] * a[r][j]), sum(|j| b[r][j] * b[r][j]));
        let cos = sum(|j| a[r][j] * b[r][j]) * rsqrt((aa + 1e-12) * (bb + 1e-12));
        let over = cos - margin;
        let apart = if over < 0.0 { 0.0 } else { over };
        (if y[r] == 1.0 { 1.0 - cos } else { 0.0 }) + (if y[r] == -1.0 { apart } else { 0.0 })
    }
}

/// `max(0, d(a, p) - d(a, n) + margin)` for an anchor, a positive and a negative row, with the distance
/// `d(x, y) = ‖x - y + eps‖ₚ`. With `swap` the distance of the negative is the smaller one of those to the anchor and to the
/// positive. `[.., C], [.., C], [.., C] -> []`. PyTorch's `nn.TripletMarginLoss`; the swap is that of Balntas et al. (2016).
#[model]
pub struct TripletMarginLoss {
    /// By how much the negative should be farther away.
    #[config(1.0)]
    pub margin: f64,
    /// The norm of distances.
    #[config(2.0)]
    pub p: f64,
    /// Added to each difference.
    #[config(1e-6)]
    pub eps: f64,
    /// Whether the positive may stand for the anchor.
    #[config(false)]
    pub swap: bool,
    /// How the losses become one number.
    #[config(Reduction::Mean)]
    pub reduction: Reduction,
}

#[model]
impl TripletMarginLoss {
    /// The losses as one number.
    pub fn forward(&self, anchor: Tensor![R.., C], positive: Tensor![R.., C], negative: Tensor![R.., C]) -> Tensor![] {
        reduced(self.forward_no_reduction(anchor, positive, negative), self.reduction)
    }

    /// The loss of each triple of rows.
    pub fn forward_no_reduction(
        &self,
        anchor: Tensor![R.., C],
        positive: Tensor![R.., C],
        negative: Tensor![R.., C],
    ) -> Tensor![R..] {
        let near = distance(anchor, positive, self.p, self.eps);
        let far = distance(anchor, negative, self.p, self.eps);
        let far = if self.swap { far.minimum(distance(positive, negative, self.p, self.eps)) } else { far };
        beyond(near, far, self.margin)
    }
}

#[kernel]
fn distance(a: Tensor![R.., C], b: Tensor![R.., C], p: f64, eps: f64) -> Tensor![R..] {
    |r| pow(sum(|j| pow(abs(a[r][j] - b[r][j] + eps), p)), 1.0 / p)
}

#[kernel]
fn beyond(near: Tensor![R..], far: Tensor![R..], margin: f64) -> Tensor![R..] {
    |r| {
        let gap = margin + near[r] - far[r];
        if gap < 0.0 { 0.0 } else { gap }
    }
}
