//! Operations on tensors, a family a file.
//!
//! A differentiable method `m` has a companion `m__vjp` that also returns its pullback; a free function `f` has
//! `f::vjp`. What a companion does beyond the plain operation lives in functions that are not generic over anything a
//! user's crate chooses, so that user crates compile little.

mod accumulate;
mod arith;
mod arith_pullback;
mod assign;
mod bits;
mod clamp;
mod closeness;
mod compare;
mod contract;
mod covariance;
mod cross_entropy;
mod division;
mod dropout;

mod elementwise;
mod embedding;
pub(crate) mod fold;
mod geometry;
mod glu;
pub(crate) mod indices;
mod layer_norm;
mod linear;
mod loss;
mod matmul;
#[allow(non_snake_case, reason = "companions are named `<operation>__vjp`")]
mod movement;
mod movement_join;
#[allow(non_snake_case, reason = "companions are named `<operation>__vjp`")]
mod movement_split;
mod movement_undo;
mod movement_view;
mod mse_loss;
mod operand;
mod operators;
mod pairs;
mod pointwise;
mod power;
mod reduce;
mod rows;
mod summation;

pub use compare::select;
pub use movement_join::{IntoTensors, Joined, cat, stack};
pub use movement_split::{Form, IntoParts, List, Parted, Tuple};
pub use movement_undo::Moved;
pub use operand::{IntOperand, Number, Operand, Slot, Value};
pub use operators::{AddVjp, DivVjp, MulVjp, RemVjp, SubVjp};
pub use power::pow;
pub use summation::{Factor, Factors, einsum};

pub(crate) use accumulate::{add_ct, sum_to};
pub(crate) use elementwise::{broadcast_run, float_of, folds_into, summing_run};
pub(crate) use movement_undo::joined;
