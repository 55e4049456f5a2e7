//! Tensors, shapes, models, records and optimisers.

extern crate self as cotangent;

pub mod cx;
pub mod device;
pub mod diff;
pub mod ops;
mod raise;
pub mod random;
pub mod shape;
pub mod tensor;
pub mod testing;

pub use cotangent_hal::{DType, Error, Result};
pub use cx::Cx;
pub use device::Device;
pub use raise::{attempt, raise};
pub use random::{Key, Rng};
pub use tensor::{Bool, Float, Int, Tensor};
#[cfg(feature = "cpu")]
pub use tensor::{arange, causal_mask};
