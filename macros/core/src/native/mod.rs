//! Native code for kernels: from the kernel language to launches of tile kernels.
//!
//! A kernel becomes one step or several (`cut`). Matrix products (`contract`) are calls of the library. What maps onto a
//! run of elements, or onto rows, becomes loops over slices that rustc vectorises (`rows`); everything else becomes
//! nested loops over whole tensors (`nest`).

mod arena;
mod binary;
mod by_hand;
mod code;
mod contract;
mod cut;
mod data;
mod embedded;
mod emit;
mod function;
mod functions;
mod item;
mod nest;
mod plan;
mod raw;
mod rows;
mod text;

pub use binary::binary;
pub(crate) use embedded::embedded;
pub(crate) use function::Callees;
pub use functions::functions;
pub use text::{kernel_item, kernel_of_text};

pub(crate) use item::{Item, Out, Param, Problem, scalars, tensors};

use cotangent_ir::{Axis, Fold, Id, Kind};
use proc_macro2::TokenStream;

/// A construct that has no native form yet, and the node that has it.
#[derive(Clone, Debug)]
pub(crate) struct Unsupported {
    pub(crate) node: Id,
    pub(crate) what: &'static str,
}

/// How the index space of a launch is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Domain {
    Pointwise,
    Rows,
}

/// The part of a tensor that a tile sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    Each,
    PerRow,
    PerColumn,
    Total,
    Whole,
    Part,
}

/// A tensor of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slot {
    In(u32),
    Out(u32),
    Temp(u32),
}

/// A value that steps hand to later ones.
#[derive(Clone, Debug)]
struct Temp {
    kind: Kind,
    axes: Vec<Axis>,
}

/// One step of a program.
enum Step {
    Launch(Launch),
    Product(Product),
}

/// A matrix product: what is summed over is the axes that both factors have and the result lacks.
struct Product {
    factors: [Factor; 2],
    out: Factor,
}

/// A tensor of a product, and the axis along each of its dims.
#[derive(Clone, Debug)]
struct Factor {
    slot: Slot,
    axes: Vec<Axis>,
}

/// A tensor of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Operand {
    slot: Slot,
    /// Whether the launch writes it.
    written: bool,
    access: Access,
    kind: Kind,
    /// For each axis that a tile sees, the tensor's own, or `None` where it repeats; no list where it is seen whole.
    view: Option<Vec<Option<u8>>>,
    /// The argument whose contents an output begins with: it is changed in place.
    from: Option<u32>,
}

/// A number of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Scalar {
    Arg(u32),
    Size(u32),
}

/// A launch with the body of its tile kernel.
struct Launch {
    domain: Domain,
    axes: Vec<Axis>,
    operands: Vec<Operand>,
    scalars: Vec<(Scalar, Kind)>,
    body: TokenStream,
}

/// Whether a reduction is computed in lanes; what depends on positions goes element by element.
fn in_lanes(fold: Fold, kind: Kind) -> bool {
    kind == Kind::Float && matches!(fold, Fold::Sum | Fold::Prod | Fold::Max | Fold::Min)
}
