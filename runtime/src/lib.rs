//! Tensors, shapes, models, records and optimisers.

extern crate self as cotangent;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
pub mod cx;
pub mod debug;
pub mod device;
pub mod diff;
pub mod init;
#[doc(hidden)]
pub mod kernel;
pub mod model;
pub mod ops;
pub mod optim;
mod order;
pub mod prelude;
mod raise;
pub mod random;
pub mod record;
pub mod report;
pub mod shape;
pub mod tensor;
pub mod testing;

pub use cotangent_hal::{DType, Error, Result};
pub use cx::Cx;
pub use device::Device;
pub use half::{bf16, f16};
pub use model::{Grads, Layer, Leaf, LeafMut, Model, ModelExt, Param, Path, State};
pub use order::Order;
pub use raise::{attempt, raise};
pub use random::{Key, Rng};
pub use tensor::{Bool, Float, Int, Tensor};
#[cfg(feature = "cpu")]
pub use tensor::{arange, causal_mask};

/// The type of a tensor, with the shape that it is meant to have: `Tensor![B, 784]`, `Tensor![Int; B]`, `Tensor![]`.
///
/// In the signature of a `#[model]` method the shape is proved; anywhere else it is a note to the reader.
#[macro_export]
macro_rules! Tensor {
    (Int; $($dims:tt)*) => { $crate::Tensor<$crate::Int> };
    (Bool; $($dims:tt)*) => { $crate::Tensor<$crate::Bool> };
    ($($dims:tt)*) => { $crate::Tensor };
}

/// The value itself. In the body of a `#[model]` method it cuts the derivative: what is inside is emitted as written.
pub fn no_grad<T>(value: T) -> T {
    value
}
