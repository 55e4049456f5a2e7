//! Tensors, shapes, models, records and optimisers.

extern crate self as cotangent;

pub mod diff;
pub mod tensor;
