//! The tables that the macros and the runtime share, and the kernel language.
//!
//! A [`Kernel`] is data: [`kernel`] defines it.

pub mod kernel;
mod ops;
pub mod philox;

pub use kernel::{
    Arg, ArgDef, Axis, AxisDef, Binary, Dim, Fold, Id, Kernel, Kind, Link, List, Mode, Name, Node, Num, OutDef, Run,
    Store, Unary,
};
pub use ops::{Argument, OPS, Op, Output, op};
