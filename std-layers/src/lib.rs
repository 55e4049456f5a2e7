//! The standard layers, written in the language that users write theirs in: one family a file.
//!
//! Parameters bear PyTorch's names and shapes, so that its state dictionaries load by name.
#![allow(clippy::module_name_repetitions, reason = "layers bear the names that the field uses")]

extern crate cotangent_runtime as cotangent;

mod activation;
mod attention;
mod batch_norm;
mod conv;
mod dropout;
mod embedding;
mod linear;
mod loss;
mod norm;
mod pool;

pub use activation::*;
pub use attention::*;
pub use batch_norm::*;
pub use conv::*;
pub use dropout::*;
pub use embedding::*;
pub use linear::*;
pub use loss::*;
pub use norm::*;
pub use pool::*;
