//! The tables that the macros and the runtime share, and the kernel language.
//!
//! A [`Kernel`] is data: [`kernel`] defines it.

pub mod build;
pub mod eval;
mod facts;
pub mod kernel;
mod link;
mod names;
mod ops;
pub mod philox;
mod rewrite;
pub mod text;
pub mod verify;

pub use build::Builder;
pub use eval::{Data, EvalError, Value, eval};
pub use kernel::{
    Arg, ArgDef, Axis, AxisDef, Binary, Dim, Fold, Id, Kernel, Kind, Link, List, Mode, Name, Node, Num, OutDef, Run,
    Store, Unary,
};
pub use link::link;
pub use ops::{Argument, OPS, Op, Output, op};
pub use text::{ParseError, parse, print, show};
pub use verify::{Fault, verify};
