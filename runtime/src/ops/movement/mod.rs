//! Other shapes and orders of the same elements, as views wherever strides allow.

#![allow(non_snake_case, reason = "companions are named `<operation>__vjp`")]
#![allow(clippy::type_complexity, reason = "the type of a companion names all of its cotangents")]

mod diagonal;
mod grid;
mod join;
mod merge;
mod order;
mod pad;
mod repeat;
mod shape;
mod split;
mod triangle;
mod undo;
mod view;
mod window;

pub use grid::{hstack, meshgrid, vstack};
pub use join::{IntoTensors, Joined, cat, stack};
pub use order::IntoShifts;
pub use pad::{IntoPads, PadMode};
pub use split::{Form, IntoParts, List, Parted, Tuple};
pub use undo::Moved;

pub(crate) use merge::Merge;
pub(crate) use undo::{Undo, joined};
pub(crate) use window::Window;
