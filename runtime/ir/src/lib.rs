//! The tables that the macros and the runtime share. The kernel language itself joins them here.

mod ops;

pub use ops::{Argument, OPS, Op, Output, op};
