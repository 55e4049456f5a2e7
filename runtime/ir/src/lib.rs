//! The tables that the macros and the runtime share, and the kernel language.
//!
//! A [`Kernel`] is data: [`kernel`] defines it.

mod affine;
pub mod build;
mod cost;
pub mod eval;
mod facts;
pub mod functions;
mod invert;
mod jvp;
pub mod kernel;
mod link;
mod local;
mod names;
mod ops;
pub mod philox;
mod rewrite;
mod rules;
mod save;
pub mod text;
pub mod verify;
mod vjp;

pub use build::Builder;
pub use cost::{Cost, cost};
pub use eval::{Data, EvalError, Value, eval, eval_sized, extents};
pub use functions::{FUNCTIONS, Function, function};
pub use jvp::jvp;
pub use kernel::{
    Arg, ArgDef, Axis, AxisDef, Binary, Dim, Fold, Id, Kernel, Kind, Link, List, Mode, Name, Node, Num, OutDef, Run,
    Store, Unary,
};
pub use link::link;
pub use local::Underivable;
pub use ops::{Argument, OPS, Op, Output, op};
pub use text::{ParseError, parse, print, show};
pub use verify::{Fault, verify};
pub use vjp::{Derivative, NoDerivative, Save, Source, Stage, VjpError, vjp};
