//! Cotangent: a deep-learning framework whose models are plain Rust.
//!
//! [`macro@model`] on a struct and its impl gives typed gradients, shapes proved at compile time, and records that load by
//! name. The same definition trains and serves. [`macro@kernel`] on a function gives an operation with its gradient and
//! native code.
//!
//! ```
//! use cotangent::prelude::*;
//!
//! /// Two-layer perceptron.
//! #[model]
//! pub struct Mlp {
//!     fc1: Linear![4 => 8],
//!     fc2: Linear![8 => 3],
//! }
//!
//! #[model]
//! impl Mlp {
//!     /// Class scores.
//!     pub fn forward(&self, x: Tensor![B, 4]) -> Tensor![B, 3] {
//!         self.fc2.forward(self.fc1.forward(x).relu())
//!     }
//!     /// Mean cross-entropy.
//!     pub fn loss(&self, x: Tensor![B, 4], y: Tensor![Int; B]) -> Tensor![] {
//!         self.forward(x).cross_entropy(y)
//!     }
//! }
//!
//! let (device, mut rng) = (Device::cpu(), Rng::seed(0));
//! let mut model = Mlp::init(&mut rng, &device);
//! let mut opt = AdamW::new(1e-2);
//! let x = Tensor::randn([16, 4], &mut rng, &device);
//! let y = Tensor::<Int>::from_slice(&[0; 16], [16], &device);
//! let before = model.loss(x.clone(), y.clone()).item();
//! for _ in 0..20 {
//!     let (_loss, grads) = model.loss_grad(x.clone(), y.clone());
//!     opt.step(&mut model, grads);
//! }
//! assert!(model.loss(x, y).item() < before / 2.0);
//! ```

extern crate self as cotangent;

pub use cotangent_layers as layers;
pub use cotangent_macros::{kernel, model};
pub use cotangent_runtime::*;

#[doc(hidden)]
pub use cotangent_runtime::__private;

/// What a program that defines or trains models needs.
pub mod prelude {
    pub use cotangent_layers::*;
    pub use cotangent_macros::{kernel, model};
    pub use cotangent_runtime::prelude::*;
}

/// The examples of the README, as doc tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
