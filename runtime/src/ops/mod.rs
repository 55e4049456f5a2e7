//! Operations on tensors, a family a file.
//!
//! A differentiable method `m` has a companion `m__vjp` that also returns its pullback; a free function `f` has
//! `f::vjp`. What a companion does beyond the plain operation lives in functions that are not generic over anything a
//! user's crate chooses, so that user crates compile little.
//!
#![doc = include_str!("../../OPERATIONS.md")]

mod accumulate;
mod affine;
mod arith;
mod arith_pullback;
mod assign;
mod attention;
mod batch_norm;
mod bits;
mod clamp;
mod closeness;
mod compare;
mod contract;
mod conv;
mod covariance;
mod cross_entropy;
mod ctc_loss;
mod division;
mod dropout;

mod elementwise;
mod embedding;
mod ending;
pub(crate) mod fold;
mod geometry;
mod glu;
mod index;
pub(crate) mod indices;
mod layer_norm;
mod linear;
mod lines;
mod loss;
mod matmul;
mod movement;
mod mse_loss;
mod operand;
mod operators;
mod order;
mod pairs;
mod pointwise;
mod pool;
mod power;
mod reduce;
mod rows;
mod scan;
mod sizes;
mod summation;
mod turn;

pub use attention::{AttentionMask, scaled_dot_product_attention, scaled_dot_product_attention_with};
pub use compare::select;
pub use conv::OptionalTensor;
pub use index::{ELLIPSIS, Entry, NEW, Reduce};
pub use lines::Placed;
pub use movement::{
    Form, IntoPads, IntoParts, IntoShifts, IntoTensors, Joined, List, Moved, PadMode, Parted, Tuple, cat, hstack,
    meshgrid, stack, vstack,
};
pub use operand::{IntOperand, Number, Operand, Slot, Value};
pub use operators::{AddVjp, DivVjp, MulVjp, RemVjp, SubVjp};
pub use power::pow;
pub use sizes::{IntoPadding, Padding, Sizes};
pub use summation::{Factor, Factors, einsum};

pub(crate) use accumulate::{add_ct, sum_to};
pub(crate) use elementwise::{broadcast_run, float_of, folds_into, summing_run};
pub(crate) use movement::joined;
