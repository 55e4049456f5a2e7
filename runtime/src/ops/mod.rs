//! Operations on tensors, a family a file.
//!
//! A differentiable method `m` has a companion `m__vjp` that also returns its pullback; a free function `f` has
//! `f::vjp`. What a companion does beyond the plain operation lives in functions that are not generic over anything a
//! user's crate chooses, so that user crates compile little.

mod accumulate;

pub(crate) use accumulate::{add_ct, sum_to};
