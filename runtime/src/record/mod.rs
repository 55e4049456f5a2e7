//! Records: safetensors files that hold a model under PyTorch's names.
//!
//! **Invariant:** nothing in a file makes a reader panic or allocate much more than the file holds, optional tensors that
//! a fitting file lacks aside; a file that is being written is complete before it takes its name.

mod bytes;
mod checkpoint;
mod dtype;
mod header;
mod read;
mod write;

pub use checkpoint::{Checkpoint, Stateful};
pub use read::{Entry, Record};

pub(crate) use checkpoint::{named, unnamed};
pub(crate) use read::{FLOATS, placeholder};
pub(crate) use write::{Writer, model_tensors};

/// The metadata entry with the model's name.
pub(crate) const NAME: &str = "cotangent.model";
/// The metadata entry with the model's config as JSON.
pub(crate) const CONFIG: &str = "cotangent.config";
/// The metadata entry with the version of this layout.
pub(crate) const FORMAT: &str = "cotangent.format";
