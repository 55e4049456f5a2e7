//! Models of another crate, for the compile tests that use one.

use cotangent::prelude::*;

/// A residual block.
#[model(dims(C))]
pub struct Block {
    inner: Linear![C => C],
}

#[model]
impl Block {
    /// `x + relu(W x + b)`.
    pub fn forward(&self, x: Tensor![B, C]) -> Tensor![B, C] {
        x + self.inner.forward(x).relu()
    }
}
