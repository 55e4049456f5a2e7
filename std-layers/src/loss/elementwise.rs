//! Losses of each element by itself: regression, and rates of distributions.
#![allow(clippy::missing_errors_doc, reason = "the forms that give a `Result` say so, but not through a macro of ours")]

use super::{Reduction, reduced};
use cotangent_macros::{kernel, model};
use cotangent_runtime::Tensor;

/// Declares a loss of one prediction and one target of equal shapes: its struct, and the kernel that it calls.
macro_rules! losses {
    ($($(#[$doc:meta])* $Name:ident { $($(#[$field_doc:meta])* $field:ident: $ty:ty = $default:expr,)* } $kernel:ident;)*) => { $(
        $(#[$doc])*
        #[model]
        pub struct $Name {
            $($(#[$field_doc])* #[config($default)] pub $field: $ty,)*
            /// How the losses become one number.
            #[config(Reduction::Mean)]
            pub reduction: Reduction,
        }

        #[model]
        impl $Name {
            /// The losses as one number.
            pub fn forward(&self, input: Tensor![R..], target: Tensor![R..]) -> Tensor![] {
                reduced(self.forward_no_reduction(input, target), self.reduction)
            }

            /// The loss of each element.
            pub fn forward_no_reduction(&self, input: Tensor![R..], target: Tensor![R..]) -> Tensor![R..] {
                $kernel(input, target $(, self.$field)*)
            }
        }
    )* };
}

losses! {
    /// The absolute difference, `|x - y|`; slope 0 where both are equal. PyTorch's `nn.L1Loss`.
    L1Loss {} absolute;
    /// The squared difference, `(x - y)²`. PyTorch's `nn.MSELoss`.
    MseLoss {} squared;
    /// Huber's loss of a difference `d`: `d² / 2` up to `delta`, `delta (|d| - delta / 2)` beyond. PyTorch's
    /// `nn.HuberLoss`.
    ///
    /// ```
    /// use cotangent::prelude::*;
    /// let loss = HuberLoss::init(&mut Rng::seed(0), &Device::cpu());
    /// let (x, y) = (Tensor::from_slice(&[0.5, 3.0], [2], &Device::cpu()), Tensor::zeros([2], &Device::cpu()));
    /// assert_eq!(loss.forward(x, y).item(), (0.125 + 2.5) / 2.0);
    /// ```
    HuberLoss {
        /// Where the loss becomes linear, above 0.
        delta: f64 = 1.0,
    } huber;
    /// The smooth absolute difference `d`: `d² / (2 beta)` below `beta`, `|d| - beta / 2` beyond. A `beta` of 0 makes it
    /// [`L1Loss`]. PyTorch's `nn.SmoothL1Loss`.
    SmoothL1Loss {
        /// Where the loss becomes linear.
        beta: f64 = 1.0,
    } smooth;
    /// The divergence of a distribution from another, `y (log y - x)` of log-probabilities `x` and probabilities `y`, which
    /// with `log_target` are logarithms too. PyTorch's `nn.KLDivLoss`; its mathematical value is that of
    /// [`Reduction::BatchMean`].
    KlDivLoss {
        /// Whether targets are logarithms.
        log_target: bool = false,
    } divergence;
    /// The negative log-likelihood of a count `y` under a Poisson distribution of rate `e^x`: `e^x - y x`, or with
    /// `log_input` off of rate `x`: `x - y log(x + eps)`. `full` adds Stirling's approximation of `log y!` for counts
    /// above 1. PyTorch's `nn.PoissonNLLLoss`.
    PoissonNllLoss {
        /// Whether inputs are logarithms of rates.
        log_input: bool = true,
        /// Whether the term of the target alone is added.
        full: bool = false,
        /// Added to a rate before its logarithm is taken.
        eps: f64 = 1e-8,
    } poisson;
    /// The hinge of a distance `x`: `x` itself where the target is 1, `max(0, margin - x)` where it is -1, and both added
    /// for any other target. PyTorch's `nn.HingeEmbeddingLoss`.
    HingeEmbeddingLoss {
        /// The distance from which on dissimilar pairs have no loss.
        margin: f64 = 1.0,
    } hinge;
}

#[kernel]
fn absolute(x: Tensor![R..], y: Tensor![R..]) -> Tensor![R..] {
    |r| abs(x[r] - y[r])
}

#[kernel]
fn squared(x: Tensor![R..], y: Tensor![R..]) -> Tensor![R..] {
    |r| square(x[r] - y[r])
}

#[kernel]
fn huber(x: Tensor![R..], y: Tensor![R..], delta: f64) -> Tensor![R..] {
    |r| {
        let d = abs(x[r] - y[r]);
        if d < delta { 0.5 * d * d } else { delta * (d - 0.5 * delta) }
    }
}

#[kernel]
fn smooth(x: Tensor![R..], y: Tensor![R..], beta: f64) -> Tensor![R..] {
    |r| {
        let d = abs(x[r] - y[r]);
        let divisor = if beta > 0.0 { beta } else { 1.0 };
        if d < beta { 0.5 * d * d / divisor } else { d - 0.5 * beta }
    }
}

#[kernel]
fn divergence(x: Tensor![R..], y: Tensor![R..], log_target: bool) -> Tensor![R..] {
    |r| {
        let certain = if y[r] > 0.0 { y[r] } else { 1.0 };
        let weighted = if y[r] > 0.0 { y[r] * log(certain) } else { 0.0 };
        if log_target { exp(y[r]) * (y[r] - x[r]) } else { weighted - y[r] * x[r] }
    }
}

#[kernel]
fn poisson(x: Tensor![R..], y: Tensor![R..], log_input: bool, full: bool, eps: f64) -> Tensor![R..] {
    |r| {
        let likelihood = if log_input { exp(x[r]) - y[r] * x[r] } else { x[r] - y[r] * log(x[r] + eps) };
        let count = if y[r] > 1.0 { y[r] } else { 1.0 };
        let stirling = count * log(count) - count + 0.5 * log(2.0 * std::f64::consts::PI * count);
        if full && y[r] > 1.0 { likelihood + stirling } else { likelihood }
    }
}

#[kernel]
fn hinge(x: Tensor![R..], y: Tensor![R..], margin: f64) -> Tensor![R..] {
    |r| {
        let gap = margin - x[r];
        let apart = if gap < 0.0 { 0.0 } else { gap };
        (if y[r] == 1.0 { 0.0 } else { apart }) + (if y[r] == -1.0 { 0.0 } else { x[r] })
    }
}

/// The negative log-likelihood of a target under a normal distribution of mean `x` and variance `var`:
/// `(log var + (x - y)² / var) / 2`, to which `full` adds `log(2π) / 2`. The variance counts as at least `eps`, with the
/// gradient of one that is not held. PyTorch's `nn.GaussianNLLLoss`.
#[model]
pub struct GaussianNllLoss {
    /// Whether the constant is added.
    #[config(false)]
    pub full: bool,
    /// The least variance.
    #[config(1e-6)]
    pub eps: f64,
    /// How the losses become one number.
    #[config(Reduction::Mean)]
    pub reduction: Reduction,
}

#[model]
impl GaussianNllLoss {
    /// The losses as one number.
    pub fn forward(&self, input: Tensor![R..], target: Tensor![R..], var: Tensor![R..]) -> Tensor![] {
        reduced(self.forward_no_reduction(input, target, var), self.reduction)
    }

    /// The loss of each element.
    pub fn forward_no_reduction(&self, input: Tensor![R..], target: Tensor![R..], var: Tensor![R..]) -> Tensor![R..] {
        gaussian(input, target, var, self.full, self.eps)
    }
}

#[kernel]
fn gaussian(x: Tensor![R..], y: Tensor![R..], var: Tensor![R..], full: bool, eps: f64) -> Tensor![R..] {
    |r| {
        let held = var[r] + detach(maximum(var[r], eps) - var[r]);
        let constant = if full { 0.5 * log(2.0 * std::f64::consts::PI) } else { 0.0 };
        0.5 * (log(held) + square(x[r] - y[r]) / held) + constant
    }
}
