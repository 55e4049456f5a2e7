//! Activations as layers, for lists of layers; in a body the methods of the same name read better.

use cotangent_macros::model;
use cotangent_runtime::Tensor;

/// `max(x, 0)`. `[..] -> [..]`; slope 0 at 0. PyTorch's `nn.ReLU`.
#[model]
pub struct Relu {}

#[model]
impl Relu {
    /// `max(x, 0)`.
    pub fn forward(&self, x: Tensor![R..]) -> Tensor![R..] {
        x.relu()
    }
}

/// `x Φ(x)` with the normal distribution's `Φ`. `[..] -> [..]`. PyTorch's `nn.GELU`.
#[model]
pub struct Gelu {}

#[model]
impl Gelu {
    /// `x Φ(x)`.
    pub fn forward(&self, x: Tensor![R..]) -> Tensor![R..] {
        x.gelu()
    }
}

/// `x Φ(x)` with `Φ` by tanh. `[..] -> [..]`. PyTorch's `nn.GELU(approximate="tanh")`.
#[model]
pub struct GeluTanh {}

#[model]
impl GeluTanh {
    /// `x / 2 (1 + tanh(√(2/π) (x + 0.044715 x³)))`.
    pub fn forward(&self, x: Tensor![R..]) -> Tensor![R..] {
        x.gelu_tanh()
    }
}

/// `x / (1 + exp(-x))`. `[..] -> [..]`. PyTorch's `nn.SiLU`.
#[model]
pub struct Silu {}

#[model]
impl Silu {
    /// `x / (1 + exp(-x))`.
    pub fn forward(&self, x: Tensor![R..]) -> Tensor![R..] {
        x.silu()
    }
}

/// `tanh(x)`. `[..] -> [..]`. PyTorch's `nn.Tanh`.
#[model]
pub struct Tanh {}

#[model]
impl Tanh {
    /// `tanh(x)`.
    pub fn forward(&self, x: Tensor![R..]) -> Tensor![R..] {
        x.tanh()
    }
}

/// `1 / (1 + exp(-x))`. `[..] -> [..]`. PyTorch's `nn.Sigmoid`.
#[model]
pub struct Sigmoid {}

#[model]
impl Sigmoid {
    /// `1 / (1 + exp(-x))`.
    pub fn forward(&self, x: Tensor![R..]) -> Tensor![R..] {
        x.sigmoid()
    }
}
