//! Records: safetensors files that hold a model under PyTorch's names.
//!
//! **Invariant:** nothing in a file makes a reader panic; a file that is being written is complete before it takes its
//! name; and reading takes bounded memory, whatever a file claims. A tensor takes the bytes that the file has for it
//! (twice as many where 16 bits become `f32`) and less than 1 KiB beside them, the header at most four times its length.
//! A config is read as JSON, which takes up to 400 times its text, and 40 bytes for each layer that it claims, of which
//! 65,536 are believed. Optional tensors that a fitting file lacks are made as large as the config says.

mod bytes;
mod checkpoint;
mod dtype;
mod entries;
mod header;
mod names;
mod read;
mod write;

pub use checkpoint::{Checkpoint, Stateful};
pub use header::Entry;
pub use read::Record;

pub(crate) use checkpoint::{named, unnamed};
pub(crate) use read::{FLOATS, placeholder};
pub(crate) use write::{Writer, model_tensors};

/// The metadata entry with the model's name.
pub(crate) const NAME: &str = "cotangent.model";
/// The metadata entry with the model's config as JSON.
pub(crate) const CONFIG: &str = "cotangent.config";
/// The metadata entry with the version of this layout.
pub(crate) const FORMAT: &str = "cotangent.format";
