//! Normalisation over the batch.

use cotangent_macros::model;
use cotangent_runtime::{Cx, Error, Param, State, Tensor, raise};

/// Declares batch norms, alike but for the axes behind the channels.
macro_rules! batch_norms {
    ($($(#[$doc:meta])* $name:ident [$($axes:tt)*];)*) => { $(
        $(#[$doc])*
        #[model(dims(C))]
        pub struct $name {
            /// `[C]`, absent with `weight = false`.
            #[config(true)]
            #[init(ones)]
            pub weight: Option<Param![C]>,
            /// `[C]`, absent with `bias = false`.
            #[config(true)]
            #[init(zeros)]
            pub bias: Option<Param![C]>,
            /// The running mean of each channel.
            #[state(zeros)]
            pub running_mean: State![C],
            /// The running variance of each channel.
            #[state(ones)]
            pub running_var: State![C],
            /// How many batches moved the running statistics.
            #[state(zeros)]
            pub num_batches_tracked: State![],
            /// The part of the running statistics that a batch replaces.
            #[config(0.1)]
            pub momentum: f64,
            /// Added to the variance.
            #[config(1e-5)]
            pub eps: f64,
        }

        #[model]
        impl $name {
            /// The channels of `x` with mean 0 and variance 1, scaled and shifted.
            pub fn forward(&self, x: Tensor![$($axes)*], cx: &mut Cx) -> Tensor![$($axes)*] {
                if cx.training() {
                    let count = no_grad(in_each(x.shape()));
                    let (y, mean, var) = x.batch_norm(self.weight, self.bias, self.eps);
                    no_grad(cx.update(&self.running_mean, |old| moved(old, mean.clone(), self.momentum)));
                    no_grad(cx.update(&self.num_batches_tracked, |old| old + 1.0));
                    no_grad(cx.update(&self.running_var, |old| moved(old, unbiased(var.clone(), count), self.momentum)));
                    y
                } else {
                    x.batch_norm_with(self.running_mean, self.running_var, self.weight, self.bias, self.eps)
                }
            }
        }
    )* };
}

batch_norms! {
    /// Normalisation of each channel of images over the batch: `y = (x - mean) / sqrt(var + eps) * weight + bias`.
    ///
    /// `[B, C, H, W] -> [B, C, H, W]`; `weight: [C]` of ones, `bias: [C]` of zeros. In training, mean and variance are
    /// those of the batch, the variance with divisor `M = B H W`, and the running statistics move: `running = (1 -
    /// momentum) running + momentum batch`, the variance with divisor `M - 1`. Otherwise they are the running ones.
    /// `momentum` is 0.1 and `eps` 1e-5 unless given. A batch with one element in a channel is refused in training.
    /// PyTorch's `nn.BatchNorm2d`; the method is that of Ioffe and Szegedy
    /// (2015).
    ///
    /// ```
    /// use cotangent::prelude::*;
    /// let norm = BatchNorm2d::init(BatchNorm2dConfig::new(3), &mut Rng::seed(0), &Device::cpu());
    /// let x = Tensor::ones([2, 3, 4, 4], &Device::cpu());
    /// assert_eq!(norm.forward(x, &mut Cx::train(0)).sum(..).item(), 0.0);
    /// ```
    BatchNorm2d [B, C, H, W];
    /// Normalisation of each feature over the batch, and over sequences where there are any, as [`BatchNorm2d`].
    ///
    /// `[B, C] -> [B, C]` or `[B, C, L] -> [B, C, L]`. PyTorch's `nn.BatchNorm1d`.
    ///
    /// ```
    /// use cotangent::prelude::*;
    /// let norm = BatchNorm1d::init(BatchNorm1dConfig::new(3), &mut Rng::seed(0), &Device::cpu());
    /// let x = Tensor::ones([2, 3], &Device::cpu());
    /// assert_eq!(norm.forward(x, &mut Cx::train(0)).sum(..).item(), 0.0);
    /// ```
    BatchNorm1d [R..];
}

/// A running statistic, moved towards that of the batch.
fn moved(old: Tensor, batch: Tensor, momentum: f64) -> Tensor {
    let dtype = old.dtype();
    (old * (1.0 - momentum) + batch * momentum).to(dtype)
}

/// How many elements each channel of such a batch has. Of a single one there is no variance with a divisor of one less,
/// and the running one would be lost.
fn in_each(shape: &[usize]) -> f64 {
    let count = shape.iter().enumerate().filter(|(axis, _)| *axis != 1).map(|(_, n)| n).product::<usize>();
    if count == 1 {
        let message = format!("{shape:?} has one element in a channel, expected at least 2 in training");
        raise(Error::Shape { op: "batch_norm".into(), message });
    }
    count as f64
}

/// A variance of so many elements, with a divisor of one less.
fn unbiased(var: Tensor, count: f64) -> Tensor {
    var * (count / (count - 1.0))
}
