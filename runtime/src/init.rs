//! How parameters begin: the values of `#[init(..)]` and `#[state(..)]`.

use crate::device::Device;
use crate::random::Rng;
use crate::tensor::Tensor;

/// The distribution of a parameter's first values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Init {
    /// All 0.
    Zeros,
    /// All 1.
    Ones,
    /// All the same.
    Constant(f64),
    /// Uniform in `lo..hi`.
    Uniform {
        /// The least value.
        lo: f64,
        /// The end of the range.
        hi: f64,
    },
    /// Normal.
    Normal {
        /// The mean.
        mean: f64,
        /// The standard deviation.
        std: f64,
    },
}

/// All 0.
#[allow(non_upper_case_globals, reason = "it reads as a word in `#[init(zeros)]`")]
pub const zeros: Init = Init::Zeros;

/// All 1.
#[allow(non_upper_case_globals, reason = "it reads as a word in `#[init(ones)]`")]
pub const ones: Init = Init::Ones;

/// All `value`.
pub fn constant(value: impl Into<f64>) -> Init {
    Init::Constant(value.into())
}

/// Uniform in `-bound..bound`.
pub fn uniform(bound: impl Into<f64>) -> Init {
    let bound = bound.into();
    Init::Uniform { lo: -bound, hi: bound }
}

/// Uniform in `lo..hi`.
pub fn uniform_range(lo: impl Into<f64>, hi: impl Into<f64>) -> Init {
    Init::Uniform { lo: lo.into(), hi: hi.into() }
}

/// Normal with mean 0.
pub fn normal(std: impl Into<f64>) -> Init {
    Init::Normal { mean: 0.0, std: std.into() }
}

/// Uniform within ±1/√`fan_in`, all 0 where that is 0, as PyTorch's `nn.Linear` begins (He et al., 2015, with slope √5).
pub fn kaiming_uniform(fan_in: usize) -> Init {
    if fan_in == 0 { zeros } else { uniform(1.0 / (fan_in as f64).sqrt()) }
}

/// Uniform within ±√(6 / (`fan_in` + `fan_out`)) (Glorot and Bengio, 2010).
pub fn xavier_uniform(fan_in: usize, fan_out: usize) -> Init {
    uniform((6.0 / (fan_in + fan_out).max(1) as f64).sqrt())
}

impl Init {
    /// A tensor of these values: the `n`-th of a model whose random numbers depend on `key`.
    pub(crate) fn sample(self, shape: &[usize], key: u64, n: u64, device: &Device) -> Tensor {
        let mut rng = Rng::from_state((key, n << 32));
        match self {
            Init::Zeros => Tensor::zeros(shape, device),
            Init::Ones => Tensor::ones(shape, device),
            Init::Constant(value) => Tensor::full(shape, value as f32, device),
            Init::Uniform { lo, hi } => Tensor::rand(shape, &mut rng, device) * (hi - lo) + lo,
            Init::Normal { mean, std } => Tensor::randn(shape, &mut rng, device) * std + mean,
        }
    }
}
