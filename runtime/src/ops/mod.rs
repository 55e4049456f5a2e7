//! Operations on tensors, a family a file.
//!
//! A differentiable method `m` has a companion `m__vjp` that also returns its pullback; a free function `f` has
//! `f::vjp`. What a companion does beyond the plain operation lives in functions that are not generic over anything a
//! user's crate chooses, so that user crates compile little.

mod accumulate;
pub mod arith;
mod compare;
mod cross_entropy;
mod dropout;
mod elementwise;
mod embedding;
mod fold;
mod indices;
mod layer_norm;
mod matmul;
mod mse_loss;
mod operand;
mod operators;
mod pointwise;
mod power;
mod reduce;
mod rows;

pub use compare::select;
pub use operand::{IntOperand, Number, Operand, Slot};

pub(crate) use accumulate::{add_ct, sum_to};
