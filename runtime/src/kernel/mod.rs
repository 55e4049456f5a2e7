//! How an expanded `#[kernel]` runs: shapes are bound to the dims that it declares, results are allocated, and its
//! launches follow one another.
//!
//! What the macro planned is data; nothing here is generic, so that it is compiled once.

#[allow(clippy::wildcard_enum_match_arm, reason = "extents are made of few of the nodes")]
mod bind;
mod by_hand;
mod call;
#[allow(clippy::type_complexity, reason = "companions name the types of their pullbacks")]
mod pointwise;
mod run;
#[allow(clippy::should_implement_trait, reason = "what comes next differs in type from call to call")]
mod typed;

pub use by_hand::ByHand;
pub use call::{Cotangents, Def, Derived, Gradient, Saved, Source, call, vjp};
pub use pointwise::{Backward, Elementwise, Kept, Map, Pointwise, ZipMap, apply, apply_vjp, gradient_of_scalars};
pub use run::Given;
pub use typed::{IntoGiven, OfOutput, Outs};

use cotangent_hal as hal;
use cotangent_ir as ir;

/// A kernel and the launches that compute its outputs.
pub struct Program {
    /// What is computed. Its arguments and outputs are those of the program.
    pub ir: &'static ir::Kernel,
    /// The dims that stand for any number of axes, such as `R..`, as one axis of the kernel.
    pub groups: &'static [u32],
    /// The dims that must not be 0, since an element of theirs is read wherever the kernel runs.
    pub nonempty: &'static [u32],
    /// The arguments whose elements are positions in another.
    pub positions: &'static [Positions],
    /// In order; each writes outputs of its own.
    pub launches: &'static [Launch],
}

/// An integer argument whose elements must lie in `0..extent`.
pub struct Positions {
    /// The argument.
    pub arg: u32,
    /// An extent of the kernel.
    pub extent: ir::Id,
    /// What has that extent, for the error.
    pub of: &'static str,
}

/// One launch of a tile kernel.
pub struct Launch {
    /// The compiled loops.
    pub kernel: &'static hal::Kernel,
    /// The axes of the index space, outermost first; none for a single tile of one element.
    pub axes: &'static [ir::Axis],
    /// The tensors, in the order of the tile kernel.
    pub operands: &'static [Operand],
    /// The scalars behind them.
    pub scalars: &'static [Value],
}

/// A tensor of a launch.
pub struct Operand {
    /// Which one.
    pub slot: Slot,
    /// For each axis that a tile kernel sees of it, its own axis there, or `None` where it repeats; no list where it is
    /// seen whole.
    pub view: Option<&'static [Option<u8>]>,
    /// The argument whose contents an output begins with.
    pub from: Option<u32>,
}

/// A tensor of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// An argument.
    In(u32),
    /// An output.
    Out(u32),
}

/// A number that a tile kernel is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// An argument without axes.
    Arg(u32),
    /// A dim of the kernel.
    Size(u32),
}
