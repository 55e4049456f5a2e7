//! Parts of tensors by number, by range and by mask, read and written.

#![allow(non_snake_case, reason = "companions are named `<operation>__vjp`")]

mod along;
mod entry;
mod gather;
mod mask;
mod reduce;
mod scatter;
mod slice;

pub use entry::{ELLIPSIS, Entry, NEW};
pub use reduce::Reduce;

pub(crate) use along::{Put, pick, pick_last, put};
pub(crate) use scatter::fill;
