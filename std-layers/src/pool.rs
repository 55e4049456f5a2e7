//! Pools: one number of each window.

use cotangent_macros::model;
use cotangent_runtime::Tensor;

/// The largest element of each window of `K` by `K`; see [`Tensor::max_pool2d`].
///
/// `[.., H, W] -> [.., OH, OW]` with `OH = floor((H + 2 pad - dilation (K - 1) - 1) / stride) + 1`, and `OW` alike.
/// `stride` is `K`, `pad` 0 and `dilation` 1 unless given; `pad` is at most half of the window. PyTorch's
/// `nn.MaxPool2d`; windows that are no squares, or rounded up, are [`Tensor::max_pool2d_with`]'s.
///
/// ```
/// use cotangent::prelude::*;
/// #[model]
/// struct Half { pool: MaxPool2d![2] }
/// let half = Half::init(&mut Rng::seed(0), &Device::cpu());
/// assert_eq!(half.pool.forward(Tensor::zeros([1, 3, 8, 6], &Device::cpu())).shape(), [1, 3, 4, 3]);
/// ```
#[model(dims(K, stride = K, pad = 0, dilation = 1))]
pub struct MaxPool2d {}

#[model]
impl MaxPool2d {
    /// The largest elements.
    pub fn forward(
        &self,
        x: Tensor![R.., H, W],
    ) -> Tensor![
        R..,
        floor((H + 2 * pad - dilation * (K - 1) - 1) / stride) + 1,
        floor((W + 2 * pad - dilation * (K - 1) - 1) / stride) + 1
    ] {
        x.max_pool2d_with(K, stride, pad, dilation, false)
    }
}

/// The largest element of each window of `K`, as [`MaxPool2d`] over one axis.
///
/// `[.., L] -> [.., floor((L + 2 pad - dilation (K - 1) - 1) / stride) + 1]`. PyTorch's `nn.MaxPool1d`.
///
/// ```
/// use cotangent::prelude::*;
/// let pool = MaxPool1d::init(MaxPool1dConfig::new(3), &mut Rng::seed(0), &Device::cpu());
/// assert_eq!(pool.forward(Tensor::zeros([1, 3, 10], &Device::cpu())).shape(), [1, 3, 3]);
/// ```
#[model(dims(K, stride = K, pad = 0, dilation = 1))]
pub struct MaxPool1d {}

#[model]
impl MaxPool1d {
    /// The largest elements.
    pub fn forward(
        &self,
        x: Tensor![R.., L],
    ) -> Tensor![R.., floor((L + 2 * pad - dilation * (K - 1) - 1) / stride) + 1] {
        x.max_pool1d_with(K, stride, pad, dilation, false)
    }
}

/// The mean of each window of `K` by `K`; see [`Tensor::avg_pool2d`].
///
/// `[.., H, W] -> [.., OH, OW]` with `OH = floor((H + 2 pad - K) / stride) + 1`, and `OW` alike. `stride` is `K` and `pad`
/// 0 unless given; `count_include_pad = false` leaves the zeros out of the divisor. PyTorch's `nn.AvgPool2d`; windows
/// that are no squares, or rounded up, are [`Tensor::avg_pool2d_with`]'s.
///
/// ```
/// use cotangent::prelude::*;
/// let pool = AvgPool2d::init(AvgPool2dConfig::new(2), &mut Rng::seed(0), &Device::cpu());
/// assert_eq!(pool.forward(Tensor::zeros([1, 3, 8, 6], &Device::cpu())).shape(), [1, 3, 4, 3]);
/// ```
#[model(dims(K, stride = K, pad = 0))]
pub struct AvgPool2d {
    /// Whether the zeros around the planes count.
    #[config(true)]
    pub count_include_pad: bool,
}

#[model]
impl AvgPool2d {
    /// The means.
    pub fn forward(
        &self,
        x: Tensor![R.., H, W],
    ) -> Tensor![R.., floor((H + 2 * pad - K) / stride) + 1, floor((W + 2 * pad - K) / stride) + 1] {
        x.avg_pool2d_with(K, stride, pad, false, self.count_include_pad, None)
    }
}

/// The mean of each window of `K`, as [`AvgPool2d`] over one axis.
///
/// `[.., L] -> [.., floor((L + 2 pad - K) / stride) + 1]`. PyTorch's `nn.AvgPool1d`.
///
/// ```
/// use cotangent::prelude::*;
/// let pool = AvgPool1d::init(AvgPool1dConfig::new(3), &mut Rng::seed(0), &Device::cpu());
/// assert_eq!(pool.forward(Tensor::zeros([1, 3, 10], &Device::cpu())).shape(), [1, 3, 3]);
/// ```
#[model(dims(K, stride = K, pad = 0))]
pub struct AvgPool1d {
    /// Whether the zeros around the rows count.
    #[config(true)]
    pub count_include_pad: bool,
}

#[model]
impl AvgPool1d {
    /// The means.
    pub fn forward(&self, x: Tensor![R.., L]) -> Tensor![R.., floor((L + 2 * pad - K) / stride) + 1] {
        x.avg_pool1d_with(K, stride, pad, false, self.count_include_pad, None)
    }
}

/// The means of `OH` by `OW` windows that share out the axes; see [`Tensor::adaptive_avg_pool2d`].
///
/// `[.., H, W] -> [.., OH, OW]`; `OW` is `OH` unless given. PyTorch's `nn.AdaptiveAvgPool2d`.
///
/// ```
/// use cotangent::prelude::*;
/// let pool = AdaptiveAvgPool2d::init(AdaptiveAvgPool2dConfig::new(1), &mut Rng::seed(0), &Device::cpu());
/// assert_eq!(pool.forward(Tensor::zeros([1, 3, 8, 6], &Device::cpu())).shape(), [1, 3, 1, 1]);
/// ```
#[model(dims(OH, OW = OH))]
pub struct AdaptiveAvgPool2d {}

#[model]
impl AdaptiveAvgPool2d {
    /// The means.
    pub fn forward(&self, x: Tensor![R.., H, W]) -> Tensor![R.., OH, OW] {
        x.adaptive_avg_pool2d([OH, OW])
    }
}

/// The means of `O` windows that share out the last axis; see [`Tensor::adaptive_avg_pool1d`].
///
/// `[.., L] -> [.., O]`. PyTorch's `nn.AdaptiveAvgPool1d`.
///
/// ```
/// use cotangent::prelude::*;
/// let pool = AdaptiveAvgPool1d::init(AdaptiveAvgPool1dConfig::new(4), &mut Rng::seed(0), &Device::cpu());
/// assert_eq!(pool.forward(Tensor::zeros([1, 3, 10], &Device::cpu())).shape(), [1, 3, 4]);
/// ```
#[model(dims(O))]
pub struct AdaptiveAvgPool1d {}

#[model]
impl AdaptiveAvgPool1d {
    /// The means.
    pub fn forward(&self, x: Tensor![R.., L]) -> Tensor![R.., O] {
        x.adaptive_avg_pool1d(O)
    }
}

/// The largest elements of `OH` by `OW` windows that share out the axes; see [`Tensor::adaptive_max_pool2d`].
///
/// `[.., H, W] -> [.., OH, OW]`; `OW` is `OH` unless given. PyTorch's `nn.AdaptiveMaxPool2d`.
///
/// ```
/// use cotangent::prelude::*;
/// let pool = AdaptiveMaxPool2d::init(AdaptiveMaxPool2dConfig::new(2), &mut Rng::seed(0), &Device::cpu());
/// assert_eq!(pool.forward(Tensor::zeros([1, 3, 8, 6], &Device::cpu())).shape(), [1, 3, 2, 2]);
/// ```
#[model(dims(OH, OW = OH))]
pub struct AdaptiveMaxPool2d {}

#[model]
impl AdaptiveMaxPool2d {
    /// The largest elements.
    pub fn forward(&self, x: Tensor![R.., H, W]) -> Tensor![R.., OH, OW] {
        x.adaptive_max_pool2d([OH, OW])
    }
}

/// The largest elements of `O` windows that share out the last axis; see [`Tensor::adaptive_max_pool1d`].
///
/// `[.., L] -> [.., O]`. PyTorch's `nn.AdaptiveMaxPool1d`.
///
/// ```
/// use cotangent::prelude::*;
/// let pool = AdaptiveMaxPool1d::init(AdaptiveMaxPool1dConfig::new(4), &mut Rng::seed(0), &Device::cpu());
/// assert_eq!(pool.forward(Tensor::zeros([1, 3, 10], &Device::cpu())).shape(), [1, 3, 4]);
/// ```
#[model(dims(O))]
pub struct AdaptiveMaxPool1d {}

#[model]
impl AdaptiveMaxPool1d {
    /// The largest elements.
    pub fn forward(&self, x: Tensor![R.., L]) -> Tensor![R.., O] {
        x.adaptive_max_pool1d(O)
    }
}
