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

/// `min(max(x, 0), 6)`. `[..] -> [..]`; slope 0 at 0 and 6. PyTorch's `nn.ReLU6`.
#[model]
pub struct Relu6 {}

#[model]
impl Relu6 {
    /// `min(max(x, 0), 6)`.
    pub fn forward(&self, x: Tensor![R..]) -> Tensor![R..] {
        x.relu6()
    }
}

/// `min(max(x, min_val), max_val)`. `[..] -> [..]`; slope 0 at both bounds. PyTorch's `nn.Hardtanh`.
#[model]
pub struct Hardtanh {
    /// The least result.
    #[config(-1.0)]
    pub min_val: f64,
    /// The greatest result.
    #[config(1.0)]
    pub max_val: f64,
}

#[model]
impl Hardtanh {
    /// `min(max(x, min_val), max_val)`.
    pub fn forward(&self, x: Tensor![R..]) -> Tensor![R..] {
        x.hardtanh(self.min_val, self.max_val)
    }
}

/// `x` above 0, else `negative_slope x`. `[..] -> [..]`. PyTorch's `nn.LeakyReLU`.
#[model]
pub struct LeakyRelu {
    /// The slope from 0 down.
    #[config(0.01)]
    pub negative_slope: f64,
}

#[model]
impl LeakyRelu {
    /// `x` above 0, else `negative_slope x`.
    pub fn forward(&self, x: Tensor![R..]) -> Tensor![R..] {
        x.leaky_relu(self.negative_slope)
    }
}

/// `x` above 0, else `alpha (exp(x) - 1)`. `[..] -> [..]`. PyTorch's `nn.ELU`.
#[model]
pub struct Elu {
    /// Minus the limit far below 0.
    #[config(1.0)]
    pub alpha: f64,
}

#[model]
impl Elu {
    /// `x` above 0, else `alpha (exp(x) - 1)`.
    pub fn forward(&self, x: Tensor![R..]) -> Tensor![R..] {
        x.elu(self.alpha)
    }
}

/// `x` above 0, else `alpha (exp(x / alpha) - 1)`. `[..] -> [..]`. PyTorch's `nn.CELU`.
#[model]
pub struct Celu {
    /// Minus the limit far below 0.
    #[config(1.0)]
    pub alpha: f64,
}

#[model]
impl Celu {
    /// `x` above 0, else `alpha (exp(x / alpha) - 1)`.
    pub fn forward(&self, x: Tensor![R..]) -> Tensor![R..] {
        x.celu(self.alpha)
    }
}

/// `1.0507 x` above 0, else `1.7581 (exp(x) - 1)`. `[..] -> [..]`; keeps mean 0 and variance 1. PyTorch's `nn.SELU`.
#[model]
pub struct Selu {}

#[model]
impl Selu {
    /// `1.0507 x` above 0, else `1.7581 (exp(x) - 1)`.
    pub fn forward(&self, x: Tensor![R..]) -> Tensor![R..] {
        x.selu()
    }
}

/// `x tanh(log(1 + exp(x)))`. `[..] -> [..]`. PyTorch's `nn.Mish`.
#[model]
pub struct Mish {}

#[model]
impl Mish {
    /// `x tanh(log(1 + exp(x)))`.
    pub fn forward(&self, x: Tensor![R..]) -> Tensor![R..] {
        x.mish()
    }
}

/// `log(1 + exp(beta x)) / beta`, and `x` where `beta x` is above `threshold`. `[..] -> [..]`. PyTorch's `nn.Softplus`.
#[model]
pub struct Softplus {
    /// How sharp the bend is.
    #[config(1.0)]
    pub beta: f64,
    /// Where the function becomes `x`.
    #[config(20.0)]
    pub threshold: f64,
}

#[model]
impl Softplus {
    /// `log(1 + exp(beta x)) / beta`, and `x` where `beta x` is above `threshold`.
    pub fn forward(&self, x: Tensor![R..]) -> Tensor![R..] {
        x.softplus_with(self.beta, self.threshold)
    }
}

/// `x / (1 + |x|)`. `[..] -> [..]`. PyTorch's `nn.Softsign`.
#[model]
pub struct Softsign {}

#[model]
impl Softsign {
    /// `x / (1 + |x|)`.
    pub fn forward(&self, x: Tensor![R..]) -> Tensor![R..] {
        x.softsign()
    }
}

/// `-log(1 + exp(-x))`. `[..] -> [..]`. PyTorch's `nn.LogSigmoid`.
#[model]
pub struct LogSigmoid {}

#[model]
impl LogSigmoid {
    /// `-log(1 + exp(-x))`.
    pub fn forward(&self, x: Tensor![R..]) -> Tensor![R..] {
        x.logsigmoid()
    }
}

/// `x (x + 3) / 6` between -3 and 3, 0 below and `x` above. `[..] -> [..]`. PyTorch's `nn.Hardswish`.
#[model]
pub struct Hardswish {}

#[model]
impl Hardswish {
    /// `x (x + 3) / 6` between -3 and 3, 0 below and `x` above.
    pub fn forward(&self, x: Tensor![R..]) -> Tensor![R..] {
        x.hardswish()
    }
}

/// `(x + 3) / 6` between -3 and 3, 0 below and 1 above. `[..] -> [..]`. PyTorch's `nn.Hardsigmoid`.
#[model]
pub struct Hardsigmoid {}

#[model]
impl Hardsigmoid {
    /// `(x + 3) / 6` between -3 and 3, 0 below and 1 above.
    pub fn forward(&self, x: Tensor![R..]) -> Tensor![R..] {
        x.hardsigmoid()
    }
}
