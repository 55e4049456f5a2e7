//! Runs kernels: verifies the arguments, cuts the index space into tiles, and calls the native form on each.

mod few;
mod operand;
mod overlap;
mod plan;
mod run;
mod small;

pub(crate) use operand::{outside, range};
pub(crate) use overlap::repeats;
pub(crate) use run::launch;
