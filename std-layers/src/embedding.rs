//! Tables indexed by integers.

use cotangent_macros::model;
use cotangent_runtime::{Param, Tensor};

/// A table of `V` rows of length `C`: `y[..] = weight[ids[..]]`.
///
/// `Int [..] -> [.., C]`; `weight: [V, C]`, initialised from N(0, 1). An id outside `0..V` is an error. PyTorch's
/// `nn.Embedding`.
///
/// ```
/// use cotangent::prelude::*;
/// let table = Embedding::init(EmbeddingConfig { V: 10, C: 4 }, &mut Rng::seed(0), &Device::cpu());
/// let ids = Tensor::<Int>::from_slice(&[1, 9], [2], &Device::cpu());
/// assert_eq!(table.forward(ids).shape(), [2, 4]);
/// ```
#[model(dims(V, C))]
pub struct Embedding {
    /// `[V, C]`.
    #[init(normal(1.0))]
    pub weight: Param![V, C],
}

#[model]
impl Embedding {
    /// The rows of the ids.
    pub fn forward(&self, ids: Tensor![Int; R..]) -> Tensor![R.., C] {
        self.weight.embedding(ids)
    }

    /// `x weightᵀ`: the scores of all rows, for models that share the table with their output.
    pub fn logits(&self, x: Tensor![R.., C]) -> Tensor![R.., V] {
        x.matmul(self.weight.t())
    }
}
