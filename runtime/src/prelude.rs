//! What a program that defines or trains models needs of this crate.

pub use crate::model::{Grads, Layer, Model, ModelExt, Param, State};
pub use crate::ops::{
    ELLIPSIS, NEW, PadMode, Reduce, cat, einsum, hstack, meshgrid, pow, scaled_dot_product_attention,
    scaled_dot_product_attention_with, select, stack, vstack,
};
pub use crate::optim::{Adam, AdamW, Sgd};
pub use crate::tensor::Constant;
pub use crate::{Bool, Cx, DType, Device, Error, Float, Int, Key, Order, Rng, Tensor, no_grad, s};
#[cfg(feature = "cpu")]
pub use crate::{arange, causal_mask};
