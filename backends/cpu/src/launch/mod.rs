//! Runs kernels: verifies the arguments, cuts the index space into tiles, and calls the native form on each. The views
//! of library calls are verified here too ([`Views`]).

mod few;
mod operand;
mod overlap;
mod plan;
mod run;
mod small;
mod views;

pub(crate) use few::Few;
pub(crate) use run::launch;
pub(crate) use views::{Borrows, Views};
