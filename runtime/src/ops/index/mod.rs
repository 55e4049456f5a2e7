//! Parts of tensors by number, by range and by mask, read and written.

#![allow(non_snake_case, reason = "companions are named `<operation>__vjp`")]
#![allow(clippy::type_complexity, reason = "the type of a companion names all of its cotangents")]

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
