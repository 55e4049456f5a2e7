//! The compiler behind `#[model]` and `#[kernel]`: from the user's tokens to Rust tokens.
//!
//! Every entry point takes and returns `proc_macro2` tokens, so that tests call it as a function. User input, whatever
//! it is, gives errors rather than a panic.

#![allow(clippy::wildcard_enum_match_arm, reason = "the enums of `syn` are non-exhaustive")]

mod caret;
mod diags;
mod dims;
mod dump;
mod fallback;
mod hygiene;
mod kernel;
mod model;
mod native;

pub use kernel::kernel;
#[doc(hidden)]
pub use kernel::{kernel_ir, language};
pub use model::model;
#[doc(hidden)]
pub use native::{binary, functions, kernel_item, kernel_of_text};
