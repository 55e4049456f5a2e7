//! Convolutions.

use cotangent_macros::model;
use cotangent_runtime::{Param, Tensor};

/// Convolution of images: `K` by `K` filters that move in steps of `stride` over images with `pad` zeros on each side.
///
/// `[B, I, H, W] -> [B, O, OH, OW]` with `OH = floor((H + 2 pad - dilation (K - 1) - 1) / stride) + 1`, and `OW` alike.
/// `weight: [O, I / groups, K, K]`, `bias: [O]`, both initialised uniformly within ±1/√(I K² / groups). `stride`,
/// `dilation` and `groups` are 1 and `pad` is 0 unless given; `bias = false` leaves the bias out. The groups divide `I`
/// and `O`. PyTorch's `nn.Conv2d`; filters that are no squares are [`Tensor::conv2d`]'s.
///
/// ```
/// use cotangent::prelude::*;
/// #[model]
/// struct Edges { conv: Conv2d![1 => 4, K = 3, pad = 1] }
/// let edges = Edges::init(&mut Rng::seed(0), &Device::cpu());
/// assert_eq!(edges.conv.forward(Tensor::zeros([2, 1, 28, 28], &Device::cpu())).shape(), [2, 4, 28, 28]);
/// ```
#[model(dims(I, O, K, stride = 1, pad = 0, dilation = 1, groups = 1), check(I % groups == 0, O % groups == 0))]
pub struct Conv2d {
    /// `[O, I / groups, K, K]`.
    #[init(kaiming_uniform(I / groups * K * K))]
    pub weight: Param![O, I / groups, K, K],
    /// `[O]`, absent with `bias = false`.
    #[config(true)]
    #[init(kaiming_uniform(I / groups * K * K))]
    pub bias: Option<Param![O]>,
}

#[model]
impl Conv2d {
    /// The filters' sums over the images.
    pub fn forward(
        &self,
        x: Tensor![B, I, H, W],
    ) -> Tensor![
        B,
        groups * (O / groups),
        floor((H + 2 * pad - dilation * (K - 1) - 1) / stride) + 1,
        floor((W + 2 * pad - dilation * (K - 1) - 1) / stride) + 1
    ] {
        x.conv2d(self.weight, self.bias, stride, pad, dilation, groups)
    }
}

/// Convolution of sequences, as [`Conv2d`] of images.
///
/// `[B, I, L] -> [B, O, OL]` with `OL = floor((L + 2 pad - dilation (K - 1) - 1) / stride) + 1`. `weight: [O, I / groups,
/// K]`, `bias: [O]`, both initialised uniformly within ±1/√(I K / groups). PyTorch's `nn.Conv1d`.
///
/// ```
/// use cotangent::prelude::*;
/// let config = Conv1dConfig { stride: 2, ..Conv1dConfig::new(3, 8, 5) };
/// let conv = Conv1d::init(config, &mut Rng::seed(0), &Device::cpu());
/// assert_eq!(conv.forward(Tensor::zeros([2, 3, 21], &Device::cpu())).shape(), [2, 8, 9]);
/// ```
#[model(dims(I, O, K, stride = 1, pad = 0, dilation = 1, groups = 1), check(I % groups == 0, O % groups == 0))]
pub struct Conv1d {
    /// `[O, I / groups, K]`.
    #[init(kaiming_uniform(I / groups * K))]
    pub weight: Param![O, I / groups, K],
    /// `[O]`, absent with `bias = false`.
    #[config(true)]
    #[init(kaiming_uniform(I / groups * K))]
    pub bias: Option<Param![O]>,
}

#[model]
impl Conv1d {
    /// The filters' sums over the sequences.
    pub fn forward(
        &self,
        x: Tensor![B, I, L],
    ) -> Tensor![B, groups * (O / groups), floor((L + 2 * pad - dilation * (K - 1) - 1) / stride) + 1] {
        x.conv1d(self.weight, self.bias, stride, pad, dilation, groups)
    }
}

/// Transposed convolution of images: each element adds a `K` by `K` filter to the result, `stride` apart.
///
/// `[B, I, H, W] -> [B, O, OH, OW]` with `OH = (H - 1) stride - 2 pad + dilation (K - 1) + output_pad + 1`, and `OW`
/// alike: what [`Conv2d`] with the same numbers takes back to `[B, I, H, W]`. `weight: [I, O / groups, K, K]`,
/// `bias: [O]`, both initialised uniformly within ±1/√(O K² / groups). `output_pad` is less than `stride` or `dilation`.
/// PyTorch's `nn.ConvTranspose2d`.
///
/// ```
/// use cotangent::prelude::*;
/// let config = ConvTranspose2dConfig { stride: 2, ..ConvTranspose2dConfig::new(8, 3, 2) };
/// let up = ConvTranspose2d::init(config, &mut Rng::seed(0), &Device::cpu());
/// assert_eq!(up.forward(Tensor::zeros([1, 8, 5, 7], &Device::cpu())).shape(), [1, 3, 10, 14]);
/// ```
#[model(
    dims(I, O, K, stride = 1, pad = 0, output_pad = 0, groups = 1, dilation = 1),
    check(I % groups == 0, O % groups == 0)
)]
pub struct ConvTranspose2d {
    /// `[I, O / groups, K, K]`.
    #[init(kaiming_uniform(O / groups * K * K))]
    pub weight: Param![I, O / groups, K, K],
    /// `[O]`, absent with `bias = false`.
    #[config(true)]
    #[init(kaiming_uniform(O / groups * K * K))]
    pub bias: Option<Param![O]>,
}

#[model]
impl ConvTranspose2d {
    /// The filters, added up where the elements of the images put them.
    pub fn forward(
        &self,
        x: Tensor![B, I, H, W],
    ) -> Tensor![
        B,
        groups * (O / groups),
        (H - 1) * stride - 2 * pad + dilation * (K - 1) + output_pad + 1,
        (W - 1) * stride - 2 * pad + dilation * (K - 1) + output_pad + 1
    ] {
        x.conv_transpose2d(self.weight, self.bias, stride, pad, output_pad, groups, dilation)
    }
}

/// Transposed convolution of sequences, as [`ConvTranspose2d`] of images.
///
/// `[B, I, L] -> [B, O, OL]` with `OL = (L - 1) stride - 2 pad + dilation (K - 1) + output_pad + 1`. `weight: [I,
/// O / groups, K]`, `bias: [O]`, both initialised uniformly within ±1/√(O K / groups). PyTorch's `nn.ConvTranspose1d`.
///
/// ```
/// use cotangent::prelude::*;
/// let up = ConvTranspose1d::init(ConvTranspose1dConfig::new(4, 2, 3), &mut Rng::seed(0), &Device::cpu());
/// assert_eq!(up.forward(Tensor::zeros([1, 4, 6], &Device::cpu())).shape(), [1, 2, 8]);
/// ```
#[model(
    dims(I, O, K, stride = 1, pad = 0, output_pad = 0, groups = 1, dilation = 1),
    check(I % groups == 0, O % groups == 0)
)]
pub struct ConvTranspose1d {
    /// `[I, O / groups, K]`.
    #[init(kaiming_uniform(O / groups * K))]
    pub weight: Param![I, O / groups, K],
    /// `[O]`, absent with `bias = false`.
    #[config(true)]
    #[init(kaiming_uniform(O / groups * K))]
    pub bias: Option<Param![O]>,
}

#[model]
impl ConvTranspose1d {
    /// The filters, added up where the elements of the sequences put them.
    pub fn forward(
        &self,
        x: Tensor![B, I, L],
    ) -> Tensor![B, groups * (O / groups), (L - 1) * stride - 2 * pad + dilation * (K - 1) + output_pad + 1] {
        x.conv_transpose1d(self.weight, self.bias, stride, pad, output_pad, groups, dilation)
    }
}
