//! Models whose training is timed.

mod gpt;

pub use gpt::Training;
