//! The kernel language, and the tables that the macros and the runtime share.
//!
//! A [`Kernel`] is data: outputs as functions of arguments. [`Builder`] makes one, [`parse`] reads one from text, and each
//! question about it has one function: [`verify()`], [`eval()`], [`vjp()`], [`jvp()`], [`cost()`], [`link()`], [`print()`].
//!
//! ```
//! use cotangent_ir::{Arg, Save, parse, show, vjp};
//!
//! let softmax = parse(
//!     "kernel softmax
//!      dim R, C
//!      axis r < R, i < C
//!      arg x: float[R, C]
//!      %0 = exp(x[r, i] - max[i](x[r, i]))
//!      out y: float[R, C]
//!        y[r, i] = %0 / sum[i](%0)",
//! )?;
//! let gradient = vjp(&softmax, &[Arg(0)], Save::Useful).expect("softmax has a derivative");
//! assert_eq!(
//!     show(&gradient.backward.kernel),
//!     "dx[r][i] = y[r][i] * (ct[r][i] - sum[i](ct[r][i] * y[r][i]))\n"
//! );
//! # Ok::<(), cotangent_ir::ParseError>(())
//! ```
//!
//! The path of a kernel: `kernel` (data), `build` (construction, one layout), `verify`, `link` (inlining of calls),
//! `vjp` and `jvp` over `local` (local derivatives), `rules` (cancellation), `save` (what the forward keeps) and `invert`
//! (index maps), `eval` (the meaning of it all), `cost`, `text`.
//!
//! **Invariants.** Functions here are pure: equal kernels give equal results, and nothing iterates over a hash map. No
//! input makes them panic: what takes a kernel verifies it first, or is total. There is no schedule in a kernel, no memory
//! layout and no precision; these belong to whoever lowers it.

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
pub use facts::Facts;
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
pub use vjp::{Derivative, NoDerivative, Partials, Save, Source, Stage, VjpError, slopes, vjp, vjp_of_calls};
