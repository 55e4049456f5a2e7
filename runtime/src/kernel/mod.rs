//! How an expanded `#[kernel]` runs: shapes are bound to the dims that it declares, results are allocated, and its
//! steps follow one another.
//!
//! What the macro planned is data; nothing here is generic, so that it is compiled once.

#[allow(clippy::wildcard_enum_match_arm, reason = "extents are made of few of the nodes")]
mod bind;
mod by_hand;
mod call;
mod few;
mod fused;
#[allow(clippy::type_complexity, reason = "companions name the types of their pullbacks")]
mod pointwise;
mod product;
mod program;
mod run;
#[allow(clippy::should_implement_trait, reason = "what comes next differs in type from call to call")]
mod typed;

pub use by_hand::ByHand;
pub use call::{Cotangents, Def, Derived, Gradient, Saved, Source, call, vjp};
pub use fused::{Entries, Form, FusedPullback, Fusion, fits, fused, fused_vjp};
pub(crate) use fused::{elements, elements_vjp};
pub use pointwise::{Backward, Elementwise, Kept, Map, Pointwise, ZipMap, apply, apply_vjp, gradient_of_scalars};
pub use program::{Factor, Launch, Operand, Positions, Product, Program, Slot, Step, Temp, Value};
pub use run::Given;
pub use typed::{IntoGiven, OfOutput, Outs};

use cotangent_hal as hal;
use cotangent_ir as ir;
