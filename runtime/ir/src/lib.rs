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
//! What a running program needs, the data, `philox` and `special`, is always there; all else stands behind the feature
//! `compiler`, so that it is built for the macros alone.
//!
//! **Invariants.** Functions here are pure: equal kernels give equal results, and nothing iterates over a hash map. No
//! input makes them panic: what takes a kernel verifies it first, or is total. There is no schedule in a kernel, no memory
//! layout and no precision; these belong to whoever lowers it.

#[cfg(feature = "compiler")]
mod affine;
#[cfg(feature = "compiler")]
pub mod build;
#[cfg(feature = "compiler")]
mod cost;
#[cfg(feature = "compiler")]
pub mod eval;
#[cfg(feature = "compiler")]
mod facts;
#[cfg(feature = "compiler")]
pub mod functions;
#[cfg(feature = "compiler")]
mod invert;
#[cfg(feature = "compiler")]
mod jvp;
pub mod kernel;
#[cfg(feature = "compiler")]
mod link;
#[cfg(feature = "compiler")]
mod local;
#[cfg(feature = "compiler")]
mod names;
mod ops;
pub mod philox;
#[cfg(feature = "compiler")]
mod rewrite;
#[cfg(feature = "compiler")]
mod rules;
#[cfg(feature = "compiler")]
mod save;
pub mod special;
#[cfg(feature = "compiler")]
pub mod text;
#[cfg(feature = "compiler")]
pub mod verify;
#[cfg(feature = "compiler")]
mod vjp;

#[cfg(feature = "compiler")]
pub use build::Builder;
#[cfg(feature = "compiler")]
pub use cost::{Cost, cost};
#[cfg(feature = "compiler")]
pub use eval::{Data, EvalError, Value, eval, eval_sized, extents};
#[cfg(feature = "compiler")]
pub use facts::Facts;
#[cfg(feature = "compiler")]
pub use functions::{FUNCTIONS, Function, function};
#[cfg(feature = "compiler")]
pub use jvp::jvp;
pub use kernel::{
    Arg, ArgDef, Axis, AxisDef, Binary, Dim, Fold, Id, Kernel, Kind, Link, List, Mode, Name, Node, Num, OutDef, Run,
    Store, Unary,
};
#[cfg(feature = "compiler")]
pub use link::link;
#[cfg(feature = "compiler")]
pub use local::Underivable;
pub use ops::{Argument, FAMILIES, Family, Kinds, Op, Output, op, ops};
#[cfg(feature = "compiler")]
pub use text::{ParseError, parse, print, show};
#[cfg(feature = "compiler")]
pub use verify::{Fault, verify};
#[cfg(feature = "compiler")]
pub use vjp::{
    Derivative, NoDerivative, Partials, Save, Source, Stage, VjpError, slopes, slopes_by_hand, vjp, vjp_of_calls,
};
