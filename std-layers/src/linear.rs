//! Affine maps.

use cotangent_macros::model;
use cotangent_runtime::{Param, Tensor};

/// Affine map of the last axis, `y = x Wᵀ + b`.
///
/// `[.., I] -> [.., O]`; `weight: [O, I]`, `bias: [O]`, both initialised uniformly within ±1/√I. `bias = false` leaves
/// the bias out. PyTorch's `nn.Linear`.
///
/// ```
/// use cotangent::prelude::*;
/// let fc = Linear::init(LinearConfig { I: 3, O: 2, bias: true }, &mut Rng::seed(0), &Device::cpu());
/// let y = fc.forward(Tensor::zeros([5, 3], &Device::cpu()));
/// assert_eq!(y.shape(), [5, 2]);
/// ```
#[model(dims(I, O))]
pub struct Linear {
    /// `[O, I]`.
    #[init(kaiming_uniform(I))]
    pub weight: Param![O, I],
    /// `[O]`, absent with `bias = false`.
    #[config(true)]
    #[init(kaiming_uniform(I))]
    pub bias: Option<Param![O]>,
}

#[model]
impl Linear {
    /// `x Wᵀ + b`.
    pub fn forward(&self, x: Tensor![R.., I]) -> Tensor![R.., O] {
        if let Some(bias) = &self.bias { x.linear(self.weight, bias) } else { x.matmul(self.weight.t()) }
    }
}
