//! Random zeros.

use cotangent_macros::model;
use cotangent_runtime::{Cx, Tensor};

/// In training, sets each element to 0 with probability `p` and scales the others by `1 / (1 - p)`; otherwise the
/// identity.
///
/// `[..] -> [..]`; `p` is 0.5 unless given. The pullback keeps a key, not a mask. PyTorch's `nn.Dropout`; the method is
/// that of Srivastava et al. (2014).
///
/// ```
/// use cotangent::prelude::*;
/// let drop = Dropout::init(&mut Rng::seed(0), &Device::cpu());
/// let x = Tensor::ones([4], &Device::cpu());
/// assert_eq!(drop.forward(x, &mut Cx::eval()).to_vec(), [1.0; 4]);
/// ```
#[model]
pub struct Dropout {
    /// The probability of a zero, from 0 to 1.
    #[config(0.5)]
    pub p: f64,
}

#[model]
impl Dropout {
    /// `x`, with zeros in training.
    pub fn forward(&self, x: Tensor![R..], cx: &mut Cx) -> Tensor![R..] {
        x.dropout(self.p, cx)
    }
}
